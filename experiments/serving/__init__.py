"""A year run by anyone's agent: sessions on disk, served over HTTP and over the Model Context Protocol.

``sessions`` keeps one year a session, each turn on disk before it is answered; ``http_app`` and ``mcp_server`` are two
doors to it. Nothing an agent is sent tells a hidden fact: it sees the answers of the tools and public numbers.
"""
