import { parseArgs } from 'node:util';

/** How long and how much is measured. Everything is bounded: the whole takes 25 minutes, `quick` two. */
export interface Settings {
  quick: boolean;
  /** Goals to measure; all where empty. */
  goals: string[];
  /** Measures goals 1, 3 and 9 once under the CPU profiler, and nothing else. */
  profile: boolean;
  growth: boolean;
  /** Measures what a unit of everything costs and what follows for more machines, and nothing else. */
  scaling: boolean;
  rounds: number;
  warmUpSeconds: number;
  seconds: number;
  /** Length of the load of goals 6 and 7. */
  storedSeconds: number;
  tenants: number;
  users: number;
  /** Users and tokens of each, none of which a server meets twice in a run. */
  coldUsers: number;
  coldTokensAUser: number;
  /** Answers that goals 8 and 9 store. */
  storeRows: number;
  queuedAnswers: number;
  conversationTenants: number;
  conversationsATenant: number;
  listQueries: number;
  starts: number;
  growthAnswers: number[];
  growthTenants: number[];
  growthIdentities: number[];
  growthSeconds: number;
  /** Answers of which one tenant has most, for the lists. */
  growthLists: number[];
  /** How many more are then stored: as many as between two checkpoints. */
  growthStored: number;
}

const WHOLE: Settings = {
  quick: false,
  goals: [],
  profile: false,
  growth: true,
  scaling: false,
  rounds: 3,
  warmUpSeconds: 2,
  seconds: 4,
  storedSeconds: 8,
  tenants: 20,
  users: 500,
  coldUsers: 5000,
  coldTokensAUser: 20,
  storeRows: 60_000,
  queuedAnswers: 80_000,
  conversationTenants: 50,
  conversationsATenant: 20_000,
  listQueries: 1000,
  starts: 3,
  growthAnswers: [10_000, 100_000, 1_000_000],
  growthTenants: [1, 10, 100, 1000, 10_000],
  growthIdentities: [100, 1000, 10_000, 100_000, 1_000_000],
  growthSeconds: 3,
  growthLists: [100_000, 1_000_000, 5_000_000],
  growthStored: 600_000,
};

const QUICK: Partial<Settings> = {
  quick: true,
  rounds: 1,
  warmUpSeconds: 1,
  seconds: 2,
  storedSeconds: 4,
  coldUsers: 1000,
  coldTokensAUser: 40,
  storeRows: 20_000,
  queuedAnswers: 30_000,
  conversationTenants: 10,
  listQueries: 300,
  starts: 1,
  growthAnswers: [10_000, 100_000],
  growthTenants: [1, 100, 1000],
  growthIdentities: [100, 10_000],
  growthSeconds: 1,
  growthLists: [100_000],
  growthStored: 20_000,
};

export const USAGE = `npm run bench -- [quick] [scaling] [options]

  quick                one round of short runs, without the growth curves: about two minutes
  scaling              what a unit of everything costs, and what follows for more machines: about nine minutes
  --goal N             one goal alone (repeat it for several); leaves the growth curves out
  --growth             the growth curves alone
  --growth-answers N   the most stored answers of the curve (10000000 takes some five minutes more)
  --rounds N           rounds; 3 unless quick
  --from FILE          with scaling: what follows from an earlier run, measuring nothing
  --against FOLDER     two versions of the API in turn, this one and that in the folder: what a change gained; two minutes
  --profile            goals 1, 3 and 9 once under the CPU profiler, with the ten largest self-times of each
`;

const WORDS = ['quick', 'scaling'];

/** Goals that are also measured at 0 % cache hits. */
const WITH_COLD = ['1', '2', '3', '4'];

/** The settings that a command line asks for; `undefined` when it asks for help. Throws on what it does not know. */
export function readSettings(
  args: string[],
): (Settings & { measuresGoals: boolean; from: string | undefined; against: string | undefined }) | undefined {
  const text = { type: 'string' } as const;
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      goal: { type: 'string', multiple: true },
      growth: { type: 'boolean' },
      'growth-answers': text,
      rounds: text,
      from: text,
      against: text,
      profile: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const unknown = positionals.find(word => !WORDS.includes(word));
  if (unknown) throw new Error(`there is no "${unknown}"\n\n${USAGE}`);
  if (values.help) return undefined;
  const quick = positionals.includes('quick');
  const base = { ...WHOLE, ...(quick ? QUICK : {}) };
  const goals = values.goal ?? [];
  const scaling = positionals.includes('scaling');
  const profile = values.profile ?? false;
  const needsCold = !profile && !values.against && (goals.length === 0 || goals.some(goal => WITH_COLD.includes(goal)));
  const mostAnswers = Number(values['growth-answers'] ?? base.growthAnswers.at(-1));
  return {
    ...base,
    goals: profile ? ['1', '3', '9'] : goals,
    profile,
    scaling,
    from: values.from,
    against: values.against,
    coldUsers: needsCold ? base.coldUsers : base.users,
    rounds: profile ? 1 : Number(values.rounds ?? base.rounds),
    growth: !profile && (values.growth === true || (goals.length === 0 && !quick)),
    growthAnswers: decadesUpTo(base.growthAnswers[0] as number, mostAnswers),
    measuresGoals: !values.growth,
  };
}

/** 10⁴, 10⁵ … up to the number asked for. */
function decadesUpTo(first: number, last: number): number[] {
  const decades: number[] = [];
  for (let count = first; count <= last; count *= 10) decades.push(count);
  return decades;
}
