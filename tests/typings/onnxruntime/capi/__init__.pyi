"""Its compiled part."""
