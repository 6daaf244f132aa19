"""Language models behind one client: settings, retries, cost, cache and the log of every call."""
