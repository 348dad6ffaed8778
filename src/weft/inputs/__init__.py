"""Folders, archives and large files to documents."""
