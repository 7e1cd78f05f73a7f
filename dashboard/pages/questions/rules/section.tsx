import { type ReactNode, useEffect, useState } from 'react';
import { type FieldErrors, get } from 'react-hook-form';
import editor from '../editor.module.css';
import { useFaultFocus } from '../fault-focus.ts';
import type { QuestionValues } from '../form.ts';

interface SectionProps {
  title: string;
  /** The rules in a few words, next to the title. */
  summary: string;
  /** Names of the fields in the section. */
  names: (keyof QuestionValues)[];
  errors: FieldErrors<QuestionValues>;
  children: ReactNode;
}

/** A part of the editor that is closed at first. It opens when one of its fields has an error, and focuses it. */
export function Section({ title, summary, names, errors, children }: SectionProps) {
  const [isOpen, setOpen] = useState(false);
  const body = useFaultFocus(isOpen);
  const hasFault = names.some(name => get(errors, name) !== undefined);
  useEffect(() => {
    if (hasFault) setOpen(true);
  }, [hasFault]);
  return (
    <details className={editor.more} open={isOpen} onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>
        <span>{title}</span> <span className="small quiet">{summary}</span>
      </summary>
      <div ref={body} className="stack">
        {children}
      </div>
    </details>
  );
}
