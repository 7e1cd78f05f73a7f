import { useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { TagEditor } from '../../../components/fields/tag-editor.tsx';
import { t } from '../../../i18n.ts';
import { type NamedChange, tagChange } from './bulk-choices.ts';

function TagForm({ apply }: { apply(change: NamedChange): void }) {
  const [added, setAdded] = useState<string[]>([]);
  const [removed, setRemoved] = useState<string[]>([]);
  const change = tagChange(added, removed);
  return (
    <>
      <p className="quiet">{t('Tags of a conversation that are not named here stay.')}</p>
      <fieldset>
        <legend className="small quiet">{t('Add')}</legend>
        <TagEditor
          tags={added}
          change={tags => {
            setAdded(tags);
            setRemoved(removed.filter(tag => !tags.includes(tag)));
          }}
          label={t('Add tag')}
        />
      </fieldset>
      <fieldset>
        <legend className="small quiet">{t('Remove')}</legend>
        <TagEditor
          tags={removed}
          change={tags => {
            setRemoved(tags);
            setAdded(added.filter(tag => !tags.includes(tag)));
          }}
          label={t('Remove tag')}
        />
      </fieldset>
      <div>
        <Button look="primary" isDisabled={!change} onPress={() => change && apply(change)}>
          {t('Change tags')}
        </Button>
      </div>
    </>
  );
}

interface TagDialogProps {
  isOpen: boolean;
  close(): void;
  apply(change: NamedChange): void;
}

/** Dialog that asks which tags to add and to remove. */
export const TagDialog = ({ isOpen, close, apply }: TagDialogProps) => (
  <Dialog title={t('Tags')} isOpen={isOpen} close={close}>
    <TagForm apply={apply} />
  </Dialog>
);
