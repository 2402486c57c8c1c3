"""What a third party tests its own store and its own layers with. Needs the extra `testing`."""
