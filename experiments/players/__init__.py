"""Who sits at the table: agents by name, language models, a person."""
