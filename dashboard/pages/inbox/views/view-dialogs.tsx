import { useForm } from 'react-hook-form';
import { Dialog } from '../../../components/dialog.tsx';
import { CheckInput, TextInput } from '../../../components/fields/fields.tsx';
import { Form } from '../../../components/fields/form.tsx';
import { t } from '../../../i18n.ts';

/** The fields of a view that are typed. */
interface Named {
  name: string;
  shared: boolean;
}

interface ViewDialogProps {
  title: string;
  isOpen: boolean;
  close(): void;
  /** Values to start from. */
  named: Named;
  save(named: Named): Promise<unknown>;
}

function ViewForm({ named, save }: Pick<ViewDialogProps, 'named' | 'save'>) {
  const form = useForm<Named>({ defaultValues: named });
  return (
    <Form form={form} submitLabel={t('Save view')} send={save}>
      <TextInput form={form} name="name" autoFocus label={t('Name')} maxLength={120} rules={{ required: true }} />
      <CheckInput
        form={form}
        name="shared"
        label={t('Share with the team')}
        hint={t('All members see the view and can change it.')}
      />
    </Form>
  );
}

/** Dialog that asks for the name of a view, and with whom it is shared. */
export const ViewDialog = ({ title, isOpen, close, ...form }: ViewDialogProps) => (
  <Dialog title={title} isOpen={isOpen} close={close}>
    <ViewForm {...form} />
  </Dialog>
);
