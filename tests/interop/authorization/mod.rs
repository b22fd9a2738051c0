//! Authorization: the OAuth client with authorization servers that others wrote, and their clients with the resource server.

mod clients;
