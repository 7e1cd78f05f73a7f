import { expect } from 'vitest';
import { parseTypeId } from '../../src/domain/ids.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { assignment, runAssignment } from '../../src/worker/assign.ts';
import type { TestApi } from './api.ts';
import { type Body, conversationsOf, type Parties } from './conversations.ts';
import { finish } from './loops.ts';
import { makeMember as logIn, type TestPerson } from './person.ts';
import { waitFor } from './wait.ts';

export interface Team extends Parties {
  owner: TestPerson;
  agents: string[];
}

/** Teams with assignment rules, and the worker's loop for them. */
export function assignmentOf(open: () => TestApi) {
  const { makeParties, messages, makeMember } = conversationsOf(open);
  const storages = () => ({
    storage: open().database.storage('parley_worker'),
    tenants: open().database.storage('parley_app'),
  });
  const counts: Record<string, number> = {};
  const metrics = {
    ...createMetrics('work'),
    conversationsAssigned: {
      inc({ outcome }: { outcome: string }) {
        counts[outcome] = (counts[outcome] ?? 0) + 1;
      },
    } as never,
  };
  const assign = () => finish(assignment({ ...storages(), metrics }));

  /** A tenant with agents who were given a capacity. */
  async function makeTeam(agents: number, capacity = 20): Promise<Team> {
    const parties = await makeParties();
    const owner = await logIn(open(), parties.tenant, 'owner');
    const ids: string[] = [];
    for (let number = 0; number < agents; number++) ids.push(await makeMember(parties.tenant));
    const team = { ...parties, owner, agents: ids };
    for (const id of ids) await setMember(id, { capacity });
    return team;
  }

  const setMember = (id: string, change: { availability?: string; capacity?: number }) =>
    open().database.query(
      `update members set availability = coalesce($2, availability), capacity = coalesce($3, capacity) where id = $1`,
      [parseTypeId('member', id), change.availability, change.capacity],
    );

  const setRules = async ({ owner }: Team, data: Body[]) => {
    const reply = await open().request('PUT', '/v1/assignment-rules', { headers: owner.headers, body: { data } });
    expect([reply.status, reply.body.errors]).toEqual([200, undefined]);
    return reply.body.data as { id: string }[];
  };

  /** How many open conversations each agent has, and how many nobody has. */
  async function loads({ tenant, agents }: Team): Promise<number[]> {
    const rows = await open().database.query<{ assignee_id: string | null; count: number }>(
      `select assignee_id, count(*)::int from conversations where tenant_id = $1 and status <> 'resolved' group by 1`,
      [tenant.uuid],
    );
    const of = (id: string | null) => rows.find(row => row.assignee_id === id)?.count ?? 0;
    return [...agents.map(id => of(parseTypeId('member', id) as string)), of(null)];
  }

  const waitForLoads = (team: Team, wanted: number[]) =>
    waitFor(async () => JSON.stringify(await loads(team)) === JSON.stringify(wanted));

  const events = async (team: string, id: string) =>
    (await messages(team, id)).flatMap(({ event }: Body) => (event ? [event] : []));

  /** Runs two workers until the test ends. */
  function startWorkers(count = 2) {
    const controllers = Array.from({ length: count }, () => new AbortController());
    const log = { warn: () => {} } as never;
    const ended = controllers.map(each => runAssignment({ ...storages(), metrics, log, signal: each.signal }));
    return {
      kill: (number: number) => controllers[number]?.abort(),
      async [Symbol.asyncDispose]() {
        for (const each of controllers) each.abort();
        await Promise.all(ended);
      },
    };
  }
  return { counts, metrics, assign, makeTeam, setMember, setRules, loads, waitForLoads, events, startWorkers };
}
