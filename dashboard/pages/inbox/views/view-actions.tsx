import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Cache } from '../../../api/cache.ts';
import { useAct } from '../../../api/hooks.ts';
import type { Page } from '../../../api/pages.ts';
import { Button } from '../../../components/button.tsx';
import { Confirmation } from '../../../components/dialog.tsx';
import { MenuButton } from '../../../components/menu.tsx';
import { showProblem, toast } from '../../../components/toast.tsx';
import { t } from '../../../i18n.ts';
import { pathTo } from '../../../paths.ts';
import type { SavedView, Sort } from '../filters.ts';
import { ViewDialog } from './view-dialogs.tsx';

interface ViewActionsProps {
  /** The view on the screen, if it is a saved one. */
  saved: SavedView | undefined;
  /** Whether the filters are no longer those of the view. */
  isChanged: boolean;
  /** The filters on the screen. */
  present: { filter: SavedView['filter']; sort: Sort };
  /** Leads back to the filters of the view. */
  reset(): void;
}

/** Menu of a saved view: its name, and its deletion. */
function SavedViewMenu({ view }: { view: SavedView }) {
  const [, go] = useLocation();
  const [dialog, setDialog] = useState<'name' | 'delete'>();
  const patch = useAct('PATCH /v1/views/{id}');
  const remove = useAct('DELETE /v1/views/{id}');
  const { id, name, shared } = view;
  const close = () => setDialog(undefined);
  return (
    <>
      <MenuButton
        label={t('Edit view')}
        choices={[
          { id: 'name', label: t('Rename or share …') },
          { id: 'delete', label: t('Delete …') },
        ]}
        choose={chosen => setDialog(chosen === 'delete' ? 'delete' : 'name')}
      />
      <ViewDialog
        title={t('Edit view')}
        isOpen={dialog === 'name'}
        close={close}
        named={{ name, shared }}
        save={async body => {
          await patch.mutateAsync({ params: { id }, body });
          close();
          toast(t('Saved'));
        }}
      />
      <Confirmation
        title={t('Delete the view {name}?', { name })}
        confirmLabel={t('Delete view')}
        isOpen={dialog === 'delete'}
        close={close}
        act={async () => {
          await remove.mutateAsync({ params: { id } });
          go(pathTo('inbox', { view: 'all' }), { replace: true });
        }}
      >
        {shared ? t('It disappears for the whole team. Its conversations stay.') : t('Its conversations stay.')}
      </Confirmation>
    </>
  );
}

/** Adds a new view to the cached list, so that its address is known at once. */
function listView(cache: Cache, view: SavedView): boolean {
  cache.changePages(
    'GET /v1/views',
    () => true,
    (pages: Page<SavedView>[]) =>
      pages.map((page, at) => (at === pages.length - 1 ? { ...page, data: [...page.data, view] } : page)),
  );
  return false;
}

/** The ways to save filters as a view, and to change a saved one. */
export function ViewActions({ saved, isChanged, present, reset }: ViewActionsProps) {
  const [, go] = useLocation();
  const [isNaming, setNaming] = useState(false);
  const create = useAct('POST /v1/views', { wrote: listView });
  const patch = useAct('PATCH /v1/views/{id}');
  if (!saved && !isChanged) return null;
  const update = ({ id }: SavedView) =>
    patch.mutate(
      { params: { id }, body: present },
      {
        onSuccess: () => {
          reset();
          toast(t('Saved'));
        },
        onError: showProblem,
      },
    );
  return (
    <div className="row">
      {isChanged && saved && (
        <Button small isPending={patch.isPending} onPress={() => update(saved)}>
          {t('Save changes')}
        </Button>
      )}
      {isChanged && (
        <Button small onPress={() => setNaming(true)}>
          {t('Save as view')}
        </Button>
      )}
      {isChanged && (
        <Button small look="quiet" onPress={reset}>
          {t('Reset')}
        </Button>
      )}
      {saved && <SavedViewMenu view={saved} />}
      <ViewDialog
        title={t('Save as view')}
        isOpen={isNaming}
        close={() => setNaming(false)}
        named={{ name: '', shared: false }}
        save={async named => {
          const { id } = await create.mutateAsync({ body: { ...named, ...present } });
          setNaming(false);
          go(pathTo('inbox', { view: id }));
        }}
      />
    </div>
  );
}
