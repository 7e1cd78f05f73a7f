/** Name and version of this library in requests, as in `package.json`. */
export const SDK = 'parley-javascript/0.2.0';
