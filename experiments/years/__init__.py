"""Store years on disk: run, resumed after any interruption, and verified without the merchant."""
