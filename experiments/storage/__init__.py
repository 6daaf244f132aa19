"""Bytes on disk: whole files, checksummed lines, locks."""
