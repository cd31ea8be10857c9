//! What bad input gets: an answer from the contract's error table, and a server that goes on.
