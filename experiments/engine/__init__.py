"""Work in many processes or machines, and the folder it leaves."""
