import { BOTH, POSTGRES_ONLY, type Scenario } from '../scenario.ts';
import type { FaultTenant, World } from '../world.ts';
import { killInTurns } from './process-kills.ts';

/** Sets the limit of a tenant's question, and records each change of its status. */
async function limitQuestion(world: World, { questionId, uuid }: FaultTenant, count: number): Promise<void> {
  await world.query(`update questions set response_limit = $2 where tenant_id = $1`, [
    uuid,
    JSON.stringify({ count, per: 'total' }),
  ]);
  const [row] = await world.query<{ limited: number }>(
    'select count(*)::int as limited from questions where tenant_id = $1 and response_limit is not null',
    [uuid],
  );
  if (row?.limited !== 1) throw new Error(`${questionId} has no limit`);
  await world.query('create table status_changes (status text not null)');
  await world.query(`
create function note_status() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into status_changes values (new.status);
  return null;
end $$`);
  await world.query(
    `create trigger note_status after update on questions for each row when (old.status <> new.status) execute function note_status()`,
  );
}

export const limitUnderKills: Scenario = {
  id: 'R48',
  title: 'a limit while workers are killed',
  load: '5,000 completed answers to a question with a limit of 1,000, two workers',
  faults: '20 × SIGKILL of either worker, 0.5 to 3 s apart',
  backends: BOTH,
  quick: POSTGRES_ONLY,
  async run(world) {
    const answers = world.sized(5000, 500);
    const limit = answers / 5;
    await world.start('serve');
    const workers = [await world.start('work'), await world.start('work')];
    const sender = await world.addTenant();
    await limitQuestion(world, sender, limit);
    const load = world.load({ batch: 10, lanes: 20, perSecond: 12, requests: answers / 10 });
    await killInTurns(world, workers, world.sized(20, 3));
    await load.finished;
    world.recovered(await world.drained());

    const [stored] = await world.query<{ counted: number; over: number }>(
      `select count(*) filter (where not over_quota)::int as counted, count(*) filter (where over_quota)::int as over
       from answers where tenant_id = $1 and state = 'completed'`,
      [sender.uuid],
    );
    const [results] = await world.query<{ completed: number; views: number }>(
      'select sum(completed)::int as completed, sum(seen)::int as views from question_results where tenant_id = $1',
      [sender.uuid],
    );
    const changes = await world.query<{ status: string }>('select status from status_changes');
    world.must('exactly as many as the limit allows are counted', stored?.counted === limit, `${stored?.counted}`);
    world.must('every other answer is stored', stored?.over === answers - limit, `${stored?.over}`);
    world.must(
      'the results have the counted ones, and the others as views',
      results?.completed === limit && results.views === answers - limit,
      JSON.stringify(results),
    );
    world.must(
      'the question is closed once',
      changes.map(({ status }) => status).join() === 'closed',
      `${changes.length}`,
    );
  },
};
