import type { Bench } from './bench.ts';
import { fetchUsers, makeTenants, publishQuestions, type User } from './world.ts';

/** A card fetch by the JavaScript client on a German page. */
export const WEB_PATH = '/v1/cards?platform=web&locale=de&app_version=1.4.2';

const LANGUAGES = ['de', 'fr', 'es', 'it'];

const OPTIONS = ['price', 'speed', 'support', 'quality', 'reports'];

/** Texts as long as those of a real survey. */
const inLanguage = (language: string) => ({
  title: `(${language}) How likely are you to recommend our product to a friend?`,
  description: `(${language}) We read every answer, and use it to decide on our next steps.`,
  config: { labels: { low: `(${language}) not at all likely`, high: `(${language}) extremely likely` } },
  follow_ups: {
    reason: { title: `(${language}) What is the most important reason for your score?` },
    topics: {
      title: `(${language}) Which of these should we improve first?`,
      config: { options: Object.fromEntries(OPTIONS.map(id => [id, `(${language}) Improve the ${id}`])) },
    },
    effort: { title: `(${language}) How easy was it to find an answer to your question?` },
    again: { title: `(${language}) Would you choose us again?` },
  },
});

/** A question with five steps in five languages. */
export function steppedQuestion() {
  const { title, description, config, follow_ups: texts } = inLanguage('en');
  const labels = texts.topics.config.options;
  return {
    ...{ type: 'nps', title, description, config },
    follow_ups: [
      { key: 'reason', type: 'text', ...texts.reason, show_if: { step: 'main', op: 'lte', value: 8 } },
      {
        ...{ key: 'topics', type: 'multi_choice', title: texts.topics.title },
        config: { options: OPTIONS.map(id => ({ id, label: labels[id] })) },
      },
      { key: 'effort', type: 'ces', ...texts.effort, required: true },
      { key: 'again', type: 'thumbs', ...texts.again, show_if: { step: 'topics', op: 'answered' } },
    ],
    translations: Object.fromEntries(LANGUAGES.map(language => [language, inLanguage(language)])),
  };
}

/** The values of an answer with all five steps. */
export const STEPPED_VALUES = {
  main: 8,
  reason: 'Quick and friendly',
  topics: { option_ids: ['speed', 'quality'] },
  effort: 6,
  again: true,
};

/** A question with one step whose card has about as many bytes as one with five. */
const LONG_QUESTION = {
  type: 'single_choice',
  title: 'Which of these should we improve first? '.repeat(7).trim(),
  description: 'We read every answer, and use it to decide on our next steps. '.repeat(7).trim(),
  config: { options: OPTIONS.map(id => ({ id, label: `Improve the ${id} of our product`.repeat(2) })) },
};

/** The cards of the two kinds of users may differ in size by this share. */
const SAME_SIZE = 0.1;

export interface SteppedUsers {
  /** Users with one card of five steps. */
  stepped: User[];
  /** Users with one card of one step and the same size. */
  plain: User[];
}

const sizeOf = ({ cards }: User): number => JSON.stringify(cards).length;

/** Creates tenants whose users see one card each, of five steps and of one. */
async function createUsers(bench: Bench): Promise<SteppedUsers> {
  const { users, tenants: count } = bench.settings;
  const tenants = await makeTenants(bench.databaseUrl, bench.secretKey, 2 * count);
  const [stepped, plain] = [tenants.slice(0, count), tenants.slice(count)];
  await using api = await bench.parley('serve', bench.stores.valkeyUrl ? 'valkey' : 'postgres');
  await publishQuestions(api.url, stepped, [steppedQuestion()]);
  await publishQuestions(api.url, plain, [LONG_QUESTION]);
  const fetched = {
    stepped: await fetchUsers(api.url, stepped, users, { path: WEB_PATH, cards: 1 }),
    plain: await fetchUsers(api.url, plain, users, { path: WEB_PATH, cards: 1 }),
  };
  const [large, small] = [sizeOf(fetched.stepped[0] as User), sizeOf(fetched.plain[0] as User)];
  if (Math.abs(large / small - 1) > SAME_SIZE)
    throw new Error(`a card with five steps has ${large} characters, one with one step ${small}`);
  return fetched;
}

const created = new WeakMap<Bench, Promise<SteppedUsers>>();

/** Returns the users with one card each. The first call creates them. */
export function steppedUsers(bench: Bench): Promise<SteppedUsers> {
  const users = created.get(bench) ?? createUsers(bench);
  created.set(bench, users);
  return users;
}

/** The questions that a user with many cards sees. */
export const MANY_CARDS = 20;

/** A tenant with as many live questions as one fetch returns, each with five steps in five languages. */
export async function makeTenantOfMany(bench: Bench) {
  const [tenant] = await makeTenants(bench.databaseUrl, bench.secretKey, 1);
  if (!tenant) throw new Error('no tenant was created');
  await using api = await bench.parley('serve', bench.stores.valkeyUrl ? 'valkey' : 'postgres');
  await publishQuestions(api.url, [tenant], Array.from({ length: MANY_CARDS }, steppedQuestion));
  await fetchUsers(api.url, [tenant], 1, { path: WEB_PATH, cards: MANY_CARDS });
  return tenant;
}
