"""Run folders: append-only logs, an exclusive lock, resume, results and verification."""
