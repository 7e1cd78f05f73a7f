import Router from '@koa/router';
import { Queue } from 'bullmq';
import { type CryptoKey, jwtVerify } from 'jose';
import Koa from 'koa';
import rawBody from 'raw-body';
import { NAIVE_QUEUE, type NaiveAnswer } from './naive.ts';

/** Secrets by key id, as the tokens of the bench are signed. */
const secrets = JSON.parse(process.env.SECRETS ?? '{}') as Record<string, string>;
const keys = new Map<string, Promise<CryptoKey>>();

/** Imports each key once, so that a request pays only for the verification. */
function keyOf(id: string): Promise<CryptoKey> {
  const known = keys.get(id);
  if (known) return known;
  const bytes = Buffer.from(secrets[id] ?? '', 'utf8');
  const imported = crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
  keys.set(id, imported);
  return imported;
}

const queue = new Queue(NAIVE_QUEUE, { connection: { url: process.env.REDIS_URL ?? '' } });
const OPTIONS = { removeOnComplete: true, attempts: 5, backoff: { type: 'exponential', delay: 1000 } };

interface Claims {
  sub: string;
  grants: { identity: string };
}

interface Body {
  answers: { id: string; card_id: string; question_id: string; values: unknown }[];
}

/** The floor of an acknowledged answer: Koa, jose, one `queue.add` per answer, 202. */
const router = new Router();
router.get('/readyz', async context => {
  await queue.waitUntilReady();
  context.body = 'ready';
});
router.post('/v1/answers', async context => {
  const token = context.get('Authorization').slice('Bearer '.length);
  const { payload } = await jwtVerify<Claims>(token, header => keyOf(header.kid ?? ''));
  const { answers } = JSON.parse(await rawBody(context.req, { encoding: 'utf8' })) as Body;
  for (const { id, card_id, question_id, values } of answers) {
    const identity = payload.grants.identity;
    const received_at = new Date().toISOString();
    const answer: NaiveAnswer = { tenant_id: payload.sub, id, identity, card_id, question_id, values, received_at };
    await queue.add('answer', answer, OPTIONS);
  }
  context.status = 202;
  context.body = { results: answers.map(({ id }) => ({ id, status: 'accepted' })) };
});

const app = new Koa();
app.use(router.routes());
app.listen(Number(process.env.PORT), '127.0.0.1');
