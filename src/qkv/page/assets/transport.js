"use strict";
// How a request is carried: here by the server. The static page has a file of the same name in this place, in which
// the visitor's own browser answers.
window.qkv = {
  send: (path, form) => fetch(path, { method: "POST", body: new URLSearchParams(form) }),
};
