/**
 * Imports a Formbricks survey and its responses into Parley: each question becomes a question, each response one answer
 * per question. Safe to run again: existing data is not duplicated, and new responses are added.
 *
 *     PARLEY_URL=https://feedback.example.com PARLEY_API_KEY=sk_… \
 *       node import-formbricks.mjs survey.json responses.json [more-responses.json …]
 *
 * The files are the responses of Formbricks' management API to `GET /surveys/{id}` and `GET /responses?surveyId=…`, one
 * file per page. The key needs the scopes questions:write and answers:write. Imported questions are paused; review and resume them.
 * `PARLEY_IDENTITY_PREFIX` is prepended to each user id, to match the identities in your tokens.
 * The mapping of questions is saved next to the survey in `<survey>.parley.json`.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServerClient } from '@parley/client/server';

const { PARLEY_URL, PARLEY_API_KEY, PARLEY_IDENTITY_PREFIX = '' } = process.env;

/** Maximum number and size in bytes of the answers in a request, with a margin (`POST /v1/answers`). */
const BATCH = 100;
const BATCH_BYTES = 200_000;

/** Plain text of a Formbricks text, which is localized and, since version 4, formatted. */
function plain(text, limit) {
  const chosen = typeof text === 'object' && text !== null ? (text.default ?? Object.values(text)[0]) : text;
  const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ' };
  const words = String(chosen ?? '')
    .replace(/<\/?(p|div|br|li|ul|ol|h\d)\b[^>]*>/gi, ' ')
    .replace(/<[^>]*>/g, '')
    .replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name) => ENTITIES[name])
    .replace(/\s+/g, ' ')
    .trim();
  return [...words].slice(0, limit).join('');
}

const ends = ({ lowerLabel, upperLabel }) => ({ labels: { low: plain(lowerLabel, 80), high: plain(upperLabel, 80) } });

const isOther = choice => choice.id === 'other';

const choices = element => ({
  options: element.choices
    .filter(choice => !isOther(choice))
    .map(({ id, label }) => ({ id, label: plain(label, 200) })),
  allow_other: element.choices.some(isOther),
  shuffle: (element.shuffleOption ?? 'none') !== 'none',
});

/** The selected option. Formbricks stores its label in the user's language. */
function choose(element, labels) {
  const option = label =>
    element.choices.find(each => Object.values(Object(each.label)).includes(label) && !isOther(each));
  const option_ids = labels.flatMap(label => option(label)?.id ?? []);
  const other_text = labels.filter(label => label !== '' && !option(label)).join('; ');
  return { option_ids, ...(other_text ? { other_text } : {}) };
}

const number = value => Number(value);

/** By Formbricks type: Parley's type and config, and the conversion of values. */
const TYPES = {
  nps: { type: 'nps', config: ends, value: number },
  rating: {
    type: 'rating',
    config: element => ({ scale: element.range, style: element.scale, ...ends(element) }),
    value: number,
  },
  openText: {
    type: 'text',
    config: ({ inputType }) => ({ input: ['email', 'url', 'number'].includes(inputType) ? inputType : 'text' }),
    value: String,
  },
  multipleChoiceSingle: {
    type: 'single_choice',
    config: choices,
    value(value, element) {
      const { option_ids, other_text } = choose(element, [value]);
      return other_text ? { other_text } : { option_id: option_ids[0] };
    },
  },
  multipleChoiceMulti: {
    type: 'multi_choice',
    config: choices,
    value: (value, element) => choose(element, [value].flat()),
  },
  date: { type: 'date', config: () => ({}), value: value => String(value).slice(0, 10) },
  consent: { type: 'consent', config: () => ({}), value: value => value === 'accepted' },
};

/** A deterministic UUIDv7 per response and question, so that answers are not imported twice. */
function answerId(response, element) {
  const hash = createHash('sha256').update(`${response.id} ${element.id}`).digest('hex');
  const time = new Date(response.createdAt).getTime().toString(16).padStart(12, '0');
  const variant = '89ab'[Number.parseInt(hash[3], 16) % 4];
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-${variant}${hash.slice(4, 7)}-${hash.slice(7, 19)}`;
}

const isAnswered = value =>
  value !== undefined && value !== null && value !== '' && value !== 'dismissed' && String(value) !== '';

/** The identity as in your tokens or, for anonymous responses, one per response. */
function identityOf({ id, contact, person }) {
  const userId = contact?.userId ?? person?.userId;
  return userId ? PARLEY_IDENTITY_PREFIX + userId : `formbricks|${id}`;
}

/** The answers of a response; the revision is its time, so that later updates win. */
const answersOf = (response, elements, questions) =>
  elements.flatMap(element => {
    const locale = response.language;
    const value = response.data[element.id];
    const question = questions[element.id];
    if (!question || !isAnswered(value)) return [];
    return {
      id: answerId(response, element),
      revision: Math.floor(new Date(response.updatedAt).getTime() / 1000),
      identity: identityOf(response),
      ...question,
      state: 'completed',
      values: { main: TYPES[element.type].value(value, element) },
      answered_at: new Date(response.updatedAt).toISOString(),
      metadata: { sdk: 'import-formbricks', ...(locale && locale !== 'default' ? { locale } : {}) },
    };
  });

/** Creates missing questions; publishes them so that they accept answers and pauses them so that they are not shown. */
async function importQuestions(parley, survey, elements, mapFile) {
  const known = existsSync(mapFile) ? JSON.parse(readFileSync(mapFile, 'utf8')) : {};
  for (const element of elements) {
    const kind = TYPES[element.type];
    if (!kind) console.warn(`left out: "${plain(element.headline, 60)}", Parley has nothing like ${element.type}`);
    if (!kind || known[element.id]) continue;
    const draft = {
      type: kind.type,
      name: plain(`${survey.name}: ${plain(element.headline)}`, 120),
      title: plain(element.headline, 300),
      description: plain(element.subheader, 1000),
      config: kind.config(element),
    };
    const once = step => ({ idempotencyKey: `formbricks-${survey.id}-${element.id}-${step}` });
    const { id } = await parley.createQuestion(draft, once('create'));
    const { version } = await parley.publishQuestion(id, once('publish'));
    await parley.pauseQuestion(id, once('pause'));
    known[element.id] = { question_id: id, question_version: version };
    writeFileSync(mapFile, `${JSON.stringify(known, null, 2)}\n`);
    console.log(`question: ${draft.title}`);
  }
  return known;
}

/** Splits the answers into request batches. */
function batchesOf(answers) {
  const batches = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const answer of answers) {
    const size = Buffer.byteLength(JSON.stringify(answer));
    if (bytes + size > BATCH_BYTES || batches.at(-1).length === BATCH) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1).push(answer);
    bytes += size;
  }
  return batches;
}

/** Sends answers and logs the reason of each rejection. */
async function importAnswers(parley, answers) {
  const counts = { accepted: 0, duplicate: 0, superseded: 0, rejected: 0 };
  let sent = 0;
  for (const batch of batchesOf(answers)) {
    const { results } = await parley.recordAnswers({ answers: batch });
    sent += batch.length;
    for (const [index, { status, code, detail }] of results.entries()) {
      counts[status]++;
      if (status === 'rejected') console.warn(`refused: ${JSON.stringify(batch[index])}: ${code}, ${detail}`);
    }
    console.log(`${sent} of ${answers.length} answers sent`);
  }
  return counts;
}

const read = file => JSON.parse(readFileSync(file, 'utf8'));

const [surveyFile, ...responseFiles] = process.argv.slice(2);
if (!surveyFile || !PARLEY_URL || !PARLEY_API_KEY) {
  console.error('PARLEY_URL=… PARLEY_API_KEY=sk_… node import-formbricks.mjs survey.json responses.json …');
  process.exit(2);
}
const parley = createServerClient({ baseUrl: PARLEY_URL, apiKey: PARLEY_API_KEY });
const survey = read(surveyFile).data;
const elements = survey.blocks?.length ? survey.blocks.flatMap(block => block.elements) : survey.questions;
const questions = await importQuestions(parley, survey, elements, surveyFile.replace(/(\.json)?$/, '.parley.json'));
const responses = responseFiles.flatMap(file => read(file).data);
const counts = await importAnswers(
  parley,
  responses.flatMap(response => answersOf(response, elements, questions)),
);
console.log(
  Object.entries(counts)
    .map(([status, count]) => `${count} ${status}`)
    .join(', '),
);
process.exitCode = counts.rejected > 0 ? 1 : 0;
