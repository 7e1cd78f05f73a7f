import type { ProblemError } from './problem.ts';
import { findMissingTexts, listTexts, translatedText } from './question-texts.ts';
import type { QuestionContent } from './questions.ts';
import { findRecallFault } from './recall.ts';
import type { Translation } from './translations.ts';
import { jsonPointer } from './validation.ts';

const recallFaults = (text: string, pointer: string): ProblemError[] => {
  const [code, detail] = findRecallFault(text) ?? [];
  return code && detail ? [{ pointer, code, detail }] : [];
};

const pointerTo = (tag: string, path: readonly string[]): string => jsonPointer(['translations', tag, ...path]);

function faultsOfTranslation(content: QuestionContent, tag: string, translation: Translation): ProblemError[] {
  const missing = findMissingTexts(listTexts(content), translation).map(({ path, pointer }) => ({
    pointer: pointerTo(tag, path),
    code: 'missing-translation' as const,
    detail: `Required: the text at ${pointer} in this language. Add it, or remove the language.`,
  }));
  const recalled = listTexts(content).flatMap(({ path }) =>
    recallFaults(translatedText(translation, path), pointerTo(tag, path)),
  );
  return [...missing, ...recalled];
}

/** Returns the faults of a question's texts that keep it from being published, with pointers into the question. */
export const findTextFaults = (content: QuestionContent): ProblemError[] => [
  ...listTexts(content).flatMap(({ text, pointer }) => recallFaults(text, pointer)),
  ...Object.entries(content.translations).flatMap(([tag, translation]) =>
    faultsOfTranslation(content, tag, translation),
  ),
];
