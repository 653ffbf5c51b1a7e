// With a server, htmx sends requests itself: there is nothing to do. The static page has another file in this place.
