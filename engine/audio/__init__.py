"""Sound in: any media file as blocks of samples."""
