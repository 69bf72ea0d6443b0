import { getRouteApi } from '@tanstack/react-router';
import { useRoles } from '../../api/queries';
import { useTexts } from '../../i18n';
import { ListScreen } from '../../parts/list-screen';
import { OpenItem } from '../../parts/open-item';
import { Empty } from '../../parts/states';
import { Ago } from '../../parts/time';
import { type RoleDefinition, definitionOf } from '../build/definitions';
import { links } from '../build/links';
import { PushedAsCode } from '../build/pushed';
import { buildCatalog } from '../build/texts';
import type { ListedRole } from './listed-role';
import { Role } from './role';
import { rolesCatalog } from './texts';

const route = getRouteApi('/$organization/$environment/roles');

const roleOf = (item: ListedRole) => definitionOf<RoleDefinition>(item);

export function Roles() {
  const texts = useTexts(rolesCatalog);
  const build = useTexts(buildCatalog);
  const { open } = route.useSearch();
  const list = useRoles();
  if (open !== undefined)
    return (
      <OpenItem list={list} is={(item) => roleOf(item).slug === open} back={links.role()}>
        {(role) => <Role key={open} role={role} />}
      </OpenItem>
    );
  return (
    <ListScreen
      title={texts.title}
      above={list.items.length > 0 && <PushedAsCode />}
      list={list}
      keyOf={(item) => roleOf(item).slug}
      linkOf={(item) => links.role(roleOf(item).slug)}
      mainTitle={build.name}
      main={(item) => [roleOf(item).name, roleOf(item).description ?? roleOf(item).slug]}
      columns={[
        {
          title: build.slug,
          widthRem: 12,
          cell: (item) => <code className="font-mono text-xs">{roleOf(item).slug}</code>,
        },
        {
          title: texts.policies,
          widthRem: 6,
          isNumber: true,
          cell: (item) => roleOf(item).policies.length,
        },
        {
          title: texts.scopeRules,
          widthRem: 8,
          isNumber: true,
          cell: (item) => roleOf(item).scopeRules?.length ?? 0,
        },
        {
          title: texts.fieldMasks,
          widthRem: 8,
          isNumber: true,
          cell: (item) => roleOf(item).fieldMasks?.length ?? 0,
        },
        {
          title: build.updated,
          widthRem: 7,
          isNumber: true,
          cell: ({ updatedAt }) => <Ago at={updatedAt} />,
        },
      ]}
      side={({ updatedAt }) => [<Ago at={updatedAt} className="text-n10" />]}
      empty={
        <Empty title={texts.emptyTitle} command="npx parley push">
          {texts.empty}
        </Empty>
      }
    />
  );
}
