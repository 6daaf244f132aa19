"""The store year for other people's frameworks; each module needs an extra of its name and says so if it is absent."""
