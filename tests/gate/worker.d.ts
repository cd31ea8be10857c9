// What the server puts above the text of the service worker.
declare const VERSION: string;
declare const FILES: string[];
