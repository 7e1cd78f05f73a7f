import type { UseFormReturn } from 'react-hook-form';
import { useApi } from '../../../api/hooks.ts';
import { AttributeInput } from '../../../components/comparison/attribute-input.tsx';
import { ComparisonFields } from '../../../components/comparison/comparison-fields.tsx';
import fields from '../../../components/fields/fields.module.css';
import { SelectInput, TextInput } from '../../../components/fields/fields.tsx';
import { TagEditor } from '../../../components/fields/tag-editor.tsx';
import { MemberOptions } from '../../../components/member-options.tsx';
import { t } from '../../../i18n.ts';
import { useMembers } from '../../../use-members.ts';
import { PRIORITIES, priorityName, SOURCES, sourceName } from '../../../words.ts';
import styles from './inbox-settings.module.css';
import type { RulesValues } from './rule-values.ts';

interface RuleProps {
  form: UseFormReturn<RulesValues>;
  /** Position of the rule. */
  at: number;
}

const PriorityOptions = ({ none }: { none: string }) => (
  <>
    <option value="">{none}</option>
    {PRIORITIES.map(priority => (
      <option key={priority} value={priority}>
        {priorityName(priority)}
      </option>
    ))}
  </>
);

/** The attribute that is compared, and the comparison. */
function AttributeCondition({ form, at }: RuleProps) {
  const { data } = useApi('GET /v1/identity-attributes', {});
  const attributes = data?.data ?? [];
  const name = form.watch(`rules.${at}.attribute`);
  const known = attributes.find(each => each.name === name);
  return (
    <>
      <AttributeInput
        form={form}
        name={`rules.${at}.attribute`}
        label={t('Attribute of the person')}
        attributes={attributes}
      />
      {name && (
        <ComparisonFields
          form={form}
          name={`rules.${at}.comparison`}
          hasType={known?.types.length !== 1}
          samples={known?.values}
        />
      )}
    </>
  );
}

const When = ({ form, at }: RuleProps) => (
  <fieldset className={styles.part}>
    <legend>{t('When')}</legend>
    <SelectInput form={form} name={`rules.${at}.source`} label={t('Started by')}>
      <option value="">{t('Anyone')}</option>
      {SOURCES.map(source => (
        <option key={source} value={source}>
          {sourceName(source)}
        </option>
      ))}
    </SelectInput>
    <TextInput form={form} name={`rules.${at}.tag`} label={t('Tag')} placeholder={t('Any tag')} maxLength={50} />
    <SelectInput form={form} name={`rules.${at}.whenPriority`} label={t('Priority')}>
      <PriorityOptions none={t('Any priority')} />
    </SelectInput>
    <AttributeCondition form={form} at={at} />
  </fieldset>
);

/** Checkboxes of the members among whom conversations are distributed. */
function Members({ form, at }: RuleProps) {
  const { assignable, nameOf } = useMembers();
  const chosen = form.watch(`rules.${at}.members`);
  const error = form.formState.errors.rules?.[at]?.members;
  const offered = assignable.map(({ id }) => id);
  const ids = [...offered, ...chosen.filter(id => !offered.includes(id))];
  const register = form.register(`rules.${at}.members`, {
    validate: value => value.length > 0 || t('Choose at least one member.'),
  });
  return (
    <fieldset className={styles.members} aria-describedby={error && `members-${at}`}>
      <legend className={fields.label}>{t('Members')}</legend>
      <div className={fields.choices}>
        {ids.map(id => (
          <label key={id}>
            <input type="checkbox" value={id} {...register} /> <bdi>{nameOf(id)}</bdi>
          </label>
        ))}
      </div>
      {error && (
        <p id={`members-${at}`} className={fields.error}>
          {error.message}
        </p>
      )}
    </fieldset>
  );
}

function OneMember({ form, at }: RuleProps) {
  const { assignable } = useMembers();
  const chosen = form.watch(`rules.${at}.member`);
  return (
    <SelectInput
      key={assignable.length} // a new list of options would lose the value
      form={form}
      name={`rules.${at}.member`}
      label={t('Member')}
      rules={{ required: true }}
    >
      <option value="">{t('Choose a member')}</option>
      <MemberOptions members={assignable} chosen={chosen} />
    </SelectInput>
  );
}

function Then({ form, at }: RuleProps) {
  const assign = form.watch(`rules.${at}.assign`);
  const tags = form.watch(`rules.${at}.add_tags`);
  return (
    <fieldset className={styles.part}>
      <legend>{t('Then')}</legend>
      <SelectInput form={form} name={`rules.${at}.assign`} label={t('Assign to')}>
        <option value="least_busy">{t('The least busy of several members')}</option>
        <option value="round_robin">{t('Several members in turn')}</option>
        <option value="member_id">{t('One member')}</option>
        <option value="nobody">{t('No assignment')}</option>
      </SelectInput>
      <SelectInput form={form} name={`rules.${at}.thenPriority`} label={t('Set the priority')}>
        <PriorityOptions none={t('Unchanged')} />
      </SelectInput>
      {assign === 'member_id' && <OneMember form={form} at={at} />}
      {(assign === 'round_robin' || assign === 'least_busy') && <Members form={form} at={at} />}
      <div className={styles.members}>
        <span className={fields.label}>{t('Add tags')}</span>
        <TagEditor tags={tags} change={next => form.setValue(`rules.${at}.add_tags`, next, { shouldDirty: true })} />
      </div>
    </fieldset>
  );
}

/** The fields of a rule: its name, its conditions and its effects. */
export const RuleFields = (props: RuleProps) => (
  <>
    <TextInput
      form={props.form}
      name={`rules.${props.at}.name`}
      label={t('Name')}
      maxLength={120}
      rules={{ required: true }}
    />
    <When {...props} />
    <Then {...props} />
  </>
);
