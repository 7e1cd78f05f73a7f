import type { Bench } from '../bench.ts';
import { FILL_CONVERSATIONS } from '../list-steps.ts';
import { type LoadRequest, measureLoad, openLoadSets } from '../load.ts';
import { makeAnswers, storeAnswers } from '../store-steps.ts';
import type { Tenant } from '../world.ts';

/** The cost of a read, in CPU µs. */
export interface ReadCost {
  read: string;
  micros: { api: number; database: number };
}

/** Reads of users: with a known token and with a new one. */
const CARDS = { 'cards, token known': 'cards', 'cards, token new': 'cold cards' } as const;

/** Reads of the team and its servers. */
const READS: Record<string, (questionId: string) => string> = {
  'list of answers, 20': () => '/v1/answers?limit=20',
  'results of a question': questionId => `/v1/questions/${questionId}/results`,
  'list of conversations, 20': () => '/v1/conversations?limit=20',
};

const CONVERSATIONS = 1000;

/** Measures reads on tables that hold the answers of a run, each in a fresh API. */
export async function measureReads(bench: Bench): Promise<ReadCost[]> {
  using sets = openLoadSets();
  await bench.empty();
  await storeAnswers(bench.databaseUrl, makeAnswers(bench.users, bench.settings.storeRows));
  await bench.query(FILL_CONVERSATIONS, [bench.tenants.map(({ uuid }) => uuid), CONVERSATIONS]);
  await bench.query('vacuum analyze');
  const questionOf = ({ uuid }: Tenant) =>
    bench.users.find(({ tenant }) => tenant.uuid === uuid)?.cards[0]?.question_id;
  const costs: ReadCost[] = [];
  const asTeam = (path: (questionId: string) => string) =>
    bench.tenants.map(
      (tenant): LoadRequest => ({ method: 'GET', path: path(questionOf(tenant) ?? ''), token: tenant.apiKey }),
    );
  const loads = [
    ...Object.entries(CARDS).map(([read, name]) => [read, bench.loadSet(name)] as const),
    ...Object.entries(READS).map(([read, path]) => [read, sets.create(asTeam(path))] as const),
  ];
  for (const [read, set] of loads) {
    await using api = await bench.parley('serve', 'valkey');
    const roles = bench.roles({ api: api.pid });
    const { cost, requests: count } = await measureLoad(api.url, set, bench.plan, roles);
    const micros = (role: string) => ((cost.cpu[role] ?? 0) / count) * 1e6;
    costs.push({ read, micros: { api: micros('api'), database: micros('database') } });
  }
  await bench.query('truncate conversations');
  return costs;
}
