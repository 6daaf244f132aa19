"""Charts for notebooks: each draws on the axis it is given and returns it."""
