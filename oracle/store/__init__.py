"""The oracle of the store year: what a store is worth a day, and merchants that plan."""
