import { describe, expect, test } from 'vitest';
import { createServerClient, type ServerAnswer } from '../../../clients/javascript/src/server/index.ts';
import { contract } from '../contract.ts';
import { type Answered, createNetwork, type Sent } from './network.ts';

interface Case {
  name: string;
  answers: number;
  replies: { status: number; code?: string; body?: string }[];
  sent: number[][];
  results?: (string | { rejected: string })[];
  failure?: string;
}

const answerOf = (n: number): ServerAnswer => ({
  ...{ id: `${n}`, revision: 1, identity: 'user|1', question_id: 'question_1', question_version: 1 },
  ...{ state: 'completed', values: { main: 5 } },
});
const idsIn = ({ body }: Sent): number[] => (body as { answers: ServerAnswer[] }).answers.map(({ id }) => Number(id));

function replyTo(sent: Sent, { status, code, body }: Case['replies'][0]): Answered {
  if (code) return { status, body: { title: 'Refused', status, code } };
  const results = idsIn(sent).map(id => ({ id: `${id}`, revision: 1, status: 'accepted' }));
  return { status, body: body ?? (status === 202 ? { results } : {}) };
}

describe('refusals.json', () => {
  test.each(contract('refusals') as Case[])('$name', async ({ answers, replies, sent, results, failure }) => {
    const wire = createNetwork((request, index) => replyTo(request, replies[index] as Case['replies'][0]));
    const client = createServerClient({ baseUrl: 'https://feedback.example.com', apiKey: 'sk_1', wire });
    const given = Array.from({ length: answers }, (_, index) => answerOf(index + 1));
    const recorded = client.answers.record({ answers: given });
    if (failure) await expect(recorded).rejects.toMatchObject({ kind: failure });
    else {
      const receipts = (await recorded).results;
      expect(receipts.map(({ id }) => id)).toEqual(given.map(({ id }) => id));
      expect(receipts.map(({ status, code }) => (code ? { [status]: code } : status))).toEqual(results);
    }
    expect(wire.sent.map(idsIn)).toEqual(sent);
  });
});
