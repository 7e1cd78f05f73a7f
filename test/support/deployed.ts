import { expect } from 'vitest';
import { aQuestion } from './make.ts';
import { waitFor } from './wait.ts';

/** A tenant with a server key and a live question. Ids are wire ids. */
export interface Tenant {
  id: string;
  key: { id: string; secret: string; api_key: string };
  questionId: string;
}

/** Runs the command line inside an installation and returns the JSON object that it prints. */
// biome-ignore lint/suspicious/noExplicitAny: tests read parts of any output
export type CommandLine = (args: string[], input?: string) => Promise<any>;

export type Deployed = ReturnType<typeof reach>;

/** Test operations for an installation that only need its URL and command line. */
export function reach(baseUrl: string, parley: CommandLine) {
  async function request(method: string, path: string, as: string, body?: unknown) {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { Authorization: `Bearer ${as}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: tests read parts of any reply
    return { status: response.status, body: (await response.json()) as any };
  }

  return {
    baseUrl,
    parley,
    request,
    async makeTenant(): Promise<Tenant> {
      const { id } = await parley(['tenant', 'create', '--name', 'Acme']);
      const key = await parley(['api-key', 'create', '--tenant', id, '--name', 'backend']);
      const question = await request('POST', '/v1/questions', key.api_key, aQuestion());
      const published = await request('POST', `/v1/questions/${question.body.id}/publish`, key.api_key, {});
      expect(published.status, JSON.stringify(published.body)).toBe(200);
      return { id, key, questionId: question.body.id };
    },
    /** Waits until the tenant's queue is empty and returns its ingestion counters. */
    async atRest(apiKey: string, limitMs = 90_000) {
      return waitFor(async () => {
        const reply = await request('GET', '/v1/ingestion', apiKey).catch(() => undefined); // it may be restarting
        return reply?.status === 200 && reply.body.queued === 0 && reply.body;
      }, limitMs);
    },
    /** The ids of all stored answers in the order of the pages; duplicates are kept. */
    async storedAnswers(apiKey: string): Promise<string[]> {
      const ids: string[] = [];
      for (let cursor = ''; ; ) {
        const page = await request('GET', `/v1/answers?limit=100${cursor && `&cursor=${cursor}`}`, apiKey);
        expect(page.status, JSON.stringify(page.body)).toBe(200);
        ids.push(...page.body.data.map((answer: { id: string }) => answer.id));
        if (!page.body.has_more) return ids;
        cursor = encodeURIComponent(page.body.next_cursor);
      }
    },
  };
}
