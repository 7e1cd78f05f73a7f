import { type ReactNode, useEffect, useRef, useState } from 'react';
import { type FieldErrors, get } from 'react-hook-form';
import editor from '../editor.module.css';
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
  const body = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const hasFault = names.some(name => get(errors, name) !== undefined);
  useEffect(() => {
    if (hasFault) setOpen(true);
  }, [hasFault]);
  useEffect(() => {
    const isFirst = !document.activeElement?.matches('[aria-invalid=true]');
    if (isOpen && isFirst) body.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [isOpen]);
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
