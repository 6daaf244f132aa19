"""What lies in the folders of runs, finished or still being played, as a list and as a page on this machine."""
