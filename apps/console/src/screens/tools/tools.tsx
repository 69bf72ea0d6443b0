import { getRouteApi } from '@tanstack/react-router';
import { useRef } from 'react';
import { useTools } from '../../api/queries';
import { useKeys } from '../../frame/keys';
import { useTexts } from '../../i18n';
import { Choice } from '../../parts/controls';
import { ListScreen } from '../../parts/list-screen';
import { OpenItem } from '../../parts/open-item';
import { SearchBox } from '../../parts/search-box';
import { Empty } from '../../parts/states';
import { Ago } from '../../parts/time';
import { links } from '../build/links';
import { PushedAsCode } from '../build/pushed';
import { buildCatalog } from '../build/texts';
import { toolsCatalog } from './texts';
import { Tool } from './tool';

const route = getRouteApi('/$organization/$environment/tools');

export function Tools() {
  const texts = useTexts(toolsCatalog);
  const build = useTexts(buildCatalog);
  const { open, q, kind } = route.useSearch();
  const navigate = route.useNavigate();
  const searchBox = useRef<HTMLInputElement>(null);
  useKeys({ '/': () => (searchBox.current === null ? false : searchBox.current.focus()) });
  const all = useTools();
  if (open !== undefined)
    return (
      <OpenItem list={all} is={({ name }) => name === open} back={links.tool()}>
        {(tool) => <Tool key={open} tool={tool} />}
      </OpenItem>
    );
  const filter = (change: { q?: string; kind?: string }) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const word = q?.toLowerCase() ?? '';
  const items = all.items.filter(
    ({ name, description, isBuiltin }) =>
      `${name} ${description}`.toLowerCase().includes(word) &&
      (kind === undefined || isBuiltin === (kind === 'builtin')),
  );
  const hasOwn = all.items.some(({ isBuiltin }) => !isBuiltin);
  return (
    <ListScreen
      title={texts.title}
      above={all.items.length > 0 && <PushedAsCode />}
      list={{ ...all, items }}
      keyOf={({ name }) => name}
      linkOf={({ name }) => links.tool(name)}
      mainTitle={build.name}
      main={({ name, description }) => [<code className="font-mono">{name}</code>, description]}
      columns={[
        {
          title: texts.kind,
          widthRem: 6,
          cell: ({ isBuiltin }) =>
            isBuiltin ? texts.isBuiltIn : <b className="font-medium">{texts.isCustom}</b>,
        },
        {
          title: texts.effects,
          widthRem: 11,
          cell: ({ sideEffects }) =>
            sideEffects ? texts.changes : <span className="text-n11">{texts.reads}</span>,
        },
        {
          title: build.updated,
          widthRem: 7,
          isNumber: true,
          cell: ({ custom }) => custom && <Ago at={custom.updatedAt} />,
        },
      ]}
      side={({ isBuiltin }) => [isBuiltin ? texts.isBuiltIn : texts.isCustom]}
      onClear={
        // The list of own tools that is empty shows how to make one.
        q !== undefined || (kind !== undefined && (kind !== 'custom' || hasOwn))
          ? () => filter({ q: undefined, kind: undefined })
          : undefined
      }
      empty={
        <Empty title={texts.emptyTitle} command="npx parley push">
          {texts.empty}
        </Empty>
      }
    >
      <SearchBox
        box={searchBox}
        value={q ?? ''}
        onChange={(text) => filter({ q: text || undefined })}
        label={texts.search}
      />
      <Choice
        label={texts.kind}
        value={kind ?? ''}
        onChange={({ target }) => filter({ kind: target.value || undefined })}
        options={[
          ['', texts.all],
          ['custom', texts.custom],
          ['builtin', texts.builtIn],
        ]}
      />
    </ListScreen>
  );
}
