"""The window: Qt Widgets over the engine's processes."""
