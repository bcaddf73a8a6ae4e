"""Where someone speaks, and windows packed from it."""
