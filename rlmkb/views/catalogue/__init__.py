"""Pages of the catalogue: the matrix of frameworks, a page for each, models, architectures, gaps, and how to add one.

Every function takes entries as loaded and returns HTML or Markdown. Whatever an entry says goes out escaped, and only
http(s) addresses become links, since anyone may propose an entry. Functions that link to other pages take `to`, from
the name of a page to its address relative to the page that is being made.
"""
