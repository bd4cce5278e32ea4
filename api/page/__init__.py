"""The page as it is written; what is served of it lies in ``api/static``.

Neither is imported when the page is served, and no wheel holds this folder.
"""
