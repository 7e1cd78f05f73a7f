// Prints whether the public package accepts each case of webhooks.json, read from standard input.
import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';

const { now, cases } = JSON.parse(readFileSync(0, 'utf8'));
Date.now = () => now * 1000;

const accepts = (secret, { body, body_base64, headers }) => {
  try {
    new Webhook(secret).verify(body_base64 === undefined ? body : Buffer.from(body_base64, 'base64'), headers, {
      jsonParse: false,
    });
    return true;
  } catch {
    return false;
  }
};
console.log(JSON.stringify(cases.map(each => each.secrets.some(secret => accepts(secret, each)))));
