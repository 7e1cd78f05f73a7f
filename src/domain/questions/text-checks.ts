import type { ProblemError } from '../problem.ts';
import { jsonPointer } from '../validation.ts';
import { listTexts, translatedText } from './question-texts.ts';
import type { QuestionContent } from './questions.ts';
import { findRecallFault } from './recall.ts';

const recallFaults = (text: string, pointer: string): ProblemError[] => {
  const [code, detail] = findRecallFault(text) ?? [];
  return code && detail ? [{ pointer, code, detail }] : [];
};

const pointerTo = (tag: string, path: readonly string[]): string => jsonPointer(['translations', tag, ...path]);

const missingFault = (pointer: string, original: string): ProblemError => ({
  pointer,
  code: 'missing-translation',
  detail: `Required: the text at ${original} in this language. Add it, or remove the language.`,
});

/** Finds the faults of a question's texts that keep it from being published, with pointers into the question. */
export function* findTextFaults(content: QuestionContent): Iterable<ProblemError> {
  const texts = listTexts(content);
  for (const { text, pointer } of texts) yield* recallFaults(text, pointer);
  for (const [tag, translation] of Object.entries(content.translations))
    for (const { path, pointer } of texts) {
      const text = translatedText(translation, path);
      if (text.trim() === '') yield missingFault(pointerTo(tag, path), pointer);
      else if (text.includes('{{')) yield* recallFaults(text, pointerTo(tag, path));
    }
}
