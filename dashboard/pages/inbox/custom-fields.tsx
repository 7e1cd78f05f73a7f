import { useAct } from '../../api/hooks.ts';
import fields from '../../components/fields/fields.module.css';
import { showProblem } from '../../components/toast.tsx';
import { t } from '../../i18n.ts';
import { useSession } from '../../session.tsx';
import { valueText } from '../../words.ts';
import type { Conversation } from './conversation-changes.ts';
import { type CustomField, type CustomValue, hasOptions, inputTypeOf, optionsOf, readValue } from './custom-values.ts';
import styles from './person-panel.module.css';
import { useCustomFields } from './use-custom-fields.ts';

interface ControlProps {
  field: CustomField;
  value: CustomValue | undefined;
  save(value: CustomValue | null): void;
}

/** A control that saves its value when it is left. A value of somebody else replaces it. */
function Control({ field, value, save }: ControlProps) {
  const { label } = field;
  const known = value === undefined ? '' : String(value);
  const commit = (text: string) => text !== known && save(readValue(field, text));
  const common = { 'aria-label': label, className: `${fields.input} ${fields.small}` };
  if (hasOptions(field))
    return (
      <select {...common} value={known} onChange={event => commit(event.target.value)}>
        <option value="">–</option>
        {optionsOf(field).map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    );
  return (
    <input
      key={known}
      {...common}
      type={inputTypeOf(field)}
      step="any"
      maxLength={500}
      defaultValue={known}
      onBlur={event => commit(event.target.value)}
      onKeyDown={event => event.key === 'Enter' && event.currentTarget.blur()}
    />
  );
}

/** The tenant's own fields of a conversation. */
export function CustomFields({ conversation: { id, custom = {} } }: { conversation: Conversation }) {
  const { may } = useSession();
  const patch = useAct('PATCH /v1/conversations/{id}');
  const definitions = useCustomFields();
  if (definitions.length === 0) return null;
  const save = (key: string, value: CustomValue | null) =>
    patch.mutate({ params: { id }, body: { custom: { [key]: value } } }, { onError: showProblem });
  return (
    <section aria-labelledby="panel-fields">
      <h3 id="panel-fields">{t('Fields')}</h3>
      <dl className={styles.facts}>
        {definitions.map(field => (
          <div key={field.key}>
            <dt>{field.label}</dt>
            <dd className="wrap-anywhere" dir="auto">
              {may('conversations:write') ? (
                <Control field={field} value={custom[field.key]} save={value => save(field.key, value)} />
              ) : (
                valueText(custom[field.key] ?? '–')
              )}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
