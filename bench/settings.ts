import { parseArgs } from 'node:util';

/** Size and duration of the measurements. The full run takes 25 minutes, `quick` two. */
export interface Settings {
  quick: boolean;
  /** Goals to measure; empty means all. */
  goals: string[];
  /** Only measures goals 1, 3, 9 and 20 once, with the CPU profiler. */
  profile: boolean;
  growth: boolean;
  /** Only measures unit costs and prints the projection for more machines. */
  scaling: boolean;
  rounds: number;
  warmUpSeconds: number;
  seconds: number;
  /** Duration of the load of goals 6 and 7. */
  storedSeconds: number;
  tenants: number;
  users: number;
  /** Users, and tokens per user, none of which a server sees twice in a run. */
  coldUsers: number;
  coldTokensAUser: number;
  /** Number of answers stored in goals 8 and 9. */
  storeRows: number;
  queuedAnswers: number;
  conversationTenants: number;
  conversationsATenant: number;
  listQueries: number;
  /** Conversations of one tenant in goal 24, and repetitions of each of its requests. */
  inboxConversations: number;
  inboxTurns: number;
  starts: number;
  growthAnswers: number[];
  growthTenants: number[];
  growthIdentities: number[];
  growthSeconds: number;
  /** Numbers of answers for the lists; most belong to one tenant. */
  growthLists: number[];
  /** Number of answers stored afterwards: as many as between two checkpoints. */
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
  inboxConversations: 1_000_000,
  inboxTurns: 100,
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
  inboxConversations: 100_000,
  inboxTurns: 30,
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
  scaling              unit costs and a projection for more machines: about nine minutes
  --goal N             only this goal (repeatable); omits the growth curves
  --growth             only the growth curves
  --growth-answers N   the largest number of stored answers in the curve (10000000 takes five more minutes)
  --rounds N           rounds; 3 unless quick
  --from FILE          with scaling: prints the projection from an earlier run without measuring
  --against FOLDER     compares this version of the API with the one in the folder, in alternation; two minutes
  --profile            goals 1, 3, 9 and 20 once under the CPU profiler, with the ten largest self-times of each
`;

const WORDS = ['quick', 'scaling'];

/** Goals that are also measured without cache hits. */
const WITH_COLD = ['1', '2', '3', '4'];

/** Parses the command line; `undefined` when help is requested. Throws on unknown arguments. */
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
  if (unknown) throw new Error(`unknown argument: ${unknown}\n\n${USAGE}`);
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
    goals: profile ? ['1', '3', '9', '20'] : goals,
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

/** 10⁴, 10⁵ … up to the requested number. */
function decadesUpTo(first: number, last: number): number[] {
  const decades: number[] = [];
  for (let count = first; count <= last; count *= 10) decades.push(count);
  return decades;
}
