/**
 * Imports a Formbricks survey and its responses into Parley: the survey becomes one question with steps, as far as its logic fits, and
 * each response one answer. What does not fit becomes a question of its own, or is left out; both are reported with the reason. Safe to
 * run again: existing data is not duplicated, and new responses are added.
 *
 *     SERVICE_BASE_URL=https://feedback.example.com SERVICE_API_KEY=sk_… \
 *       node import-formbricks.mjs survey.json responses.json [more-responses.json …]
 *
 * The files are the responses of Formbricks' management API to `GET /surveys/{id}` and `GET /responses?surveyId=…`, one
 * file per page. The key needs the scopes questions:write and answers:write. Imported questions are paused; review and resume them.
 * `PARLEY_IDENTITY_PREFIX` is prepended to each user id, to match the identities in your tokens.
 * The mapping of questions is saved next to the survey in `<survey>.parley.json`.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServerClient, ParleyError, visibleSteps } from 'parley-feedback/server';
import { contentOf, isRequired } from './formbricks/content.mjs';
import { endingOf, thanksIn } from './formbricks/endings.mjs';
import { localesOf } from './formbricks/languages.mjs';
import { fitted } from './formbricks/lengths.mjs';
import { obstacleOf } from './formbricks/obstacles.mjs';
import { planSurvey } from './formbricks/plan.mjs';
import { rulesOf } from './formbricks/rules.mjs';
import { blocksOf, plain, TYPES, valueIn } from './formbricks/survey.mjs';

const { SERVICE_BASE_URL, SERVICE_API_KEY, PARLEY_IDENTITY_PREFIX = '' } = process.env;

/** Maximum number and size in bytes of the answers in a request, with a margin (`POST /v1/answers`). */
const BATCH = 100;
const BATCH_BYTES = 200_000;

/** A deterministic UUIDv7 per response and question, so that answers are not imported twice. */
function answerId(response, element) {
  const hash = createHash('sha256').update(`${response.id} ${element.id}`).digest('hex');
  const time = new Date(response.createdAt).getTime().toString(16).padStart(12, '0');
  const variant = '89ab'[Number.parseInt(hash[3], 16) % 4];
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-${variant}${hash.slice(4, 7)}-${hash.slice(7, 19)}`;
}

/** The identity as in your tokens or, for anonymous responses, one per response. */
function identityOf({ id, contact, person }) {
  const userId = contact?.userId ?? person?.userId;
  return userId ? PARLEY_IDENTITY_PREFIX + userId : `formbricks|${id}`;
}

/** Parley's questions that a survey became, each with its elements. An entry of an earlier importer is the question itself. */
function questionsOf(elements, entries) {
  const questions = new Map();
  for (const element of elements) {
    const {
      question_id,
      question_version,
      step = 'main',
      show_if = null,
      required = false,
      locales = [],
    } = entries[element.id] ?? {};
    if (!question_id) continue;
    const question = questions.get(question_id) ?? { question_id, question_version, locales, steps: [] };
    questions.set(question_id, question);
    question.steps.push({ element, key: step, show_if, required: required || step === 'main' });
  }
  return [...questions.values()];
}

/** The language that a response was given in, and that of the card in Parley. */
function languagesIn({ language }, [own, ...others]) {
  if (!language || language === 'default') return own ? { card_locale: own } : {};
  const card_locale = others.find(tag => tag.toLowerCase() === language.toLowerCase()) ?? own;
  return { locale: language, ...(card_locale ? { card_locale } : {}) };
}

/** The value of an element in a response. A text that is too long for an answer is cut, which is reported. */
function fittedIn(response, element) {
  const { value, excess } = fitted(valueIn(response, element));
  const title = plain(element.headline, 60) || element.id;
  if (excess > 0) console.warn(`cut: the last ${excess} characters of response ${response.id} to "${title}"`);
  return value;
}

/**
 * The answer of a response to a question, without values of steps that the response does not show; the revision is its time, so that
 * later updates win. An empty list if nothing was answered.
 */
function answerOf(response, { question_id, question_version, locales, steps }) {
  const entered = Object.fromEntries(steps.map(({ key, element }) => [key, fittedIn(response, element)]));
  const shown = visibleSteps(steps, entered);
  const values = Object.fromEntries(
    shown.map(({ key }) => [key, entered[key]]).filter(([, value]) => value !== undefined),
  );
  if (Object.keys(values).length === 0) return [];
  const isWhole = steps.length === 1 || response.finished !== false;
  const isComplete = isWhole && shown.every(({ key, required }) => !required || values[key] !== undefined);
  return {
    id: answerId(response, steps[0].element),
    revision: Math.floor(new Date(response.updatedAt).getTime() / 1000),
    identity: identityOf(response),
    question_id,
    question_version,
    state: isComplete ? 'completed' : 'partial',
    values,
    answered_at: new Date(response.updatedAt).toISOString(),
    metadata: { sdk: 'import-formbricks', ...languagesIn(response, locales) },
  };
}

/** Creates a question; publishes it so that it accepts answers and pauses it so that it is not shown. Repeats have the same result. */
async function createQuestion(parley, key, draft) {
  const once = step => ({ idempotencyKey: `formbricks-${key}-${step}` });
  const { id } = await parley.questions.create(draft, once('create'));
  const { version } = await parley.questions.publish(id, once('publish'));
  await parley.questions.pause(id, once('pause'));
  const [own, ...others] = localesIn(draft);
  const parts = [
    draft.name,
    ...(draft.follow_ups?.length ? [`${draft.follow_ups.length + 1} steps`] : []),
    ...(others.length > 0 ? [`in ${[own, ...others].join(', ')}`] : []),
  ];
  console.log(`question: ${parts.join(', ')}`);
  return { question_id: id, question_version: version, locales: localesIn(draft) };
}

/** The languages of a question: its own, then those of its translations. Empty if the survey does not say which its own is. */
const localesIn = ({ locale, translations }) => (locale ? [locale, ...Object.keys(translations)] : []);

/** Creates the question of all steps, unless the survey was imported before. */
async function importSteps(parley, survey, steps, known) {
  if (steps.length === 0 || Object.keys(known).length > 0) return known;
  const [main, ...followUps] = steps;
  const ending = endingOf(survey);
  const { losses, ...languages } = localesOf(survey, steps, ending);
  const { rules, losses: others } = rulesOf(survey);
  for (const loss of [...losses, ...others]) console.warn(`left out: ${loss}`);
  const question = await createQuestion(parley, `${survey.id}-steps`, {
    ...contentOf(main.element),
    ...languages,
    ...rules,
    thanks: thanksIn(ending),
    name: plain(survey.name, 120),
    follow_ups: followUps.map(({ element, key, show_if }) => ({
      key,
      ...contentOf(element),
      required: isRequired(element),
      show_if,
    })),
  });
  return Object.fromEntries(
    steps.map(({ element, key, show_if }) => [
      element.id,
      { ...question, step: key, show_if, required: isRequired(element) },
    ]),
  );
}

/** Creates what is missing and reports what did not become a step. Returns the entries of the mapping by element. */
async function importQuestions(parley, survey, mapFile) {
  const save = known => writeFileSync(mapFile, `${JSON.stringify(known, null, 2)}\n`);
  const { steps, others, losses } = planSurvey(survey);
  const known = await importSteps(parley, survey, steps, existsSync(mapFile) ? read(mapFile) : {});
  save(known);
  for (const loss of losses) console.warn(`left out: ${loss}`);
  const later = steps.filter(({ element }) => !known[element.id]);
  for (const { element, reason } of [...others, ...later.map(step => ({ ...step, reason: 'imported later' }))]) {
    const title = plain(element.headline, 60) || element.id;
    const isQuestion = !obstacleOf(element) && TYPES[element.type].value !== undefined;
    if (!isQuestion) console.warn(`left out: "${title}", ${reason}`);
    if (!isQuestion || known[element.id]) continue;
    console.warn(`a question of its own: "${title}", ${reason}`);
    const name = plain(`${survey.name}: ${plain(element.headline)}`, 120);
    const { losses: missing, ...languages } = localesOf(survey, [{ element, key: 'main' }]);
    for (const loss of missing) console.warn(`left out of "${title}": ${loss}`);
    const draft = { ...contentOf(element), ...languages, name };
    known[element.id] = await createQuestion(parley, `${survey.id}-${element.id}`, draft);
    save(known);
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
    const { results } = await parley.answers.record({ answers: batch });
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
if (!surveyFile || !SERVICE_BASE_URL || !SERVICE_API_KEY) {
  console.error('SERVICE_BASE_URL=… SERVICE_API_KEY=sk_… node import-formbricks.mjs survey.json responses.json …');
  process.exit(2);
}

/** Imports the survey and its responses, and returns the numbers of answers by their result. */
async function importAll() {
  const parley = createServerClient({ baseUrl: SERVICE_BASE_URL, apiKey: SERVICE_API_KEY });
  const survey = read(surveyFile).data;
  const entries = await importQuestions(parley, survey, surveyFile.replace(/(\.json)?$/, '.parley.json'));
  const elements = blocksOf(survey).flatMap(block => block.elements);
  const questions = questionsOf(elements, entries);
  const responses = responseFiles.flatMap(file => read(file).data);
  const answers = responses.flatMap(response => questions.flatMap(question => answerOf(response, question)));
  return importAnswers(parley, answers);
}

try {
  const counts = await importAll();
  console.log(
    Object.entries(counts)
      .map(([status, count]) => `${count} ${status}`)
      .join(', '),
  );
  process.exitCode = counts.rejected > 0 ? 1 : 0;
} catch (error) {
  if (!(error instanceof ParleyError)) throw error;
  console.error(
    `stopped: ${error.message} Run the import again after correcting the cause: it continues where it stopped.`,
  );
  process.exitCode = 1;
}
