import type { ResultOf } from '@parley/client/manage';
import { Link, getRouteApi } from '@tanstack/react-router';
import { ArrowRight, Terminal } from 'lucide-react';
import { useRouters } from '../../api/queries';
import { formatNumber, useTexts } from '../../i18n';
import { CopyText, linkLook } from '../../parts/controls';
import { DetailScreen, Facts } from '../../parts/detail-screen';
import { Json } from '../../parts/json';
import { ListScreen } from '../../parts/list-screen';
import { OpenItem } from '../../parts/open-item';
import { Section } from '../../parts/section';
import { Empty } from '../../parts/states';
import { Ago } from '../../parts/time';
import { type RouterDefinition, definitionOf } from '../build/definitions';
import { links } from '../build/links';
import { PushedAsCode } from '../build/pushed';
import { Names, Sentences } from '../build/sections';
import { buildCatalog } from '../build/texts';
import { useWords } from '../roles/use-words';
import { routersCatalog } from './texts';

const route = getRouteApi('/$organization/$environment/routers');
type ListedRouter = ResultOf<'listRouters'>['data'][number];

const routerOf = (item: ListedRouter) => definitionOf<RouterDefinition>(item);

export function Routers() {
  const texts = useTexts(routersCatalog);
  const build = useTexts(buildCatalog);
  const { open } = route.useSearch();
  const list = useRouters();
  if (open !== undefined)
    return (
      <OpenItem list={list} is={(item) => routerOf(item).slug === open} back={links.router()}>
        {(item) => <Router item={item} />}
      </OpenItem>
    );
  return (
    <ListScreen
      title={texts.title}
      above={list.items.length > 0 && <PushedAsCode />}
      list={list}
      keyOf={(item) => routerOf(item).slug}
      linkOf={(item) => links.router(routerOf(item).slug)}
      mainTitle={build.name}
      main={(item) => [routerOf(item).name, routerOf(item).agents.join(', ')]}
      columns={[
        {
          title: build.slug,
          widthRem: 12,
          cell: (item) => <code className="font-mono text-xs">{routerOf(item).slug}</code>,
        },
        { title: texts.mode, widthRem: 9, cell: (item) => texts.modes[routerOf(item).mode] },
        { title: texts.fallback, widthRem: 12, cell: (item) => routerOf(item).fallback },
        {
          title: build.updated,
          widthRem: 7,
          isNumber: true,
          cell: ({ updatedAt }) => <Ago at={updatedAt} />,
        },
      ]}
      side={(item) => [texts.modes[routerOf(item).mode]]}
      empty={
        <Empty title={texts.emptyTitle} command="npx parley push">
          {texts.empty}
        </Empty>
      }
    />
  );
}

function Router({ item }: { item: ListedRouter }) {
  const texts = useTexts(routersCatalog);
  const build = useTexts(buildCatalog);
  const words = useWords();
  const router = routerOf(item);
  const { rules = [], classifyModel, contextMessages = 4 } = router;
  const agent = (slug: string) => (
    <Link {...links.agent(slug)} className="inline-flex items-center gap-1 font-medium text-accent">
      <ArrowRight aria-hidden size={14} /> {slug}
    </Link>
  );
  return (
    <DetailScreen
      title={router.name}
      back={links.router()}
      backTitle={texts.title}
      head={<CopyText text={router.slug} />}
      actions={
        <Link {...links.chat({ router: router.slug })} className={linkLook}>
          <Terminal aria-hidden size={16} strokeWidth={1.75} /> {texts.chat}
        </Link>
      }
    >
      <PushedAsCode />
      <div className="max-w-4xl space-y-6 p-4">
        {router.mode === 'classify' ? (
          <p className="text-base">
            {texts.classify(classifyModel ?? build.defaultModel, contextMessages)}
          </p>
        ) : (
          <Section title={texts.rules}>
            <p className="mb-2 text-n11">{rules.length === 0 ? texts.noRules : texts.rulesHint}</p>
            {rules.length > 0 && (
              <Sentences
                sentences={rules.map((rule) => (
                  <span className="flex flex-wrap gap-x-2">
                    {texts.rule(words.conditions(rule.conditions))} {agent(rule.route)}
                  </span>
                ))}
              />
            )}
          </Section>
        )}
        <p className="flex flex-wrap gap-x-2">
          {texts.fallback} {agent(router.fallback)}{' '}
          <span className="text-n11">{texts.fallbackHint}</span>
        </p>
        <p className="text-n11">{texts.transfer}</p>
        <Facts
          facts={[
            [texts.agents, <Names names={router.agents} linkOf={(slug) => links.agent(slug)} />],
            [build.revision, formatNumber(item.revision)],
            [build.updated, <Ago at={item.updatedAt} />],
          ]}
        />
        <Json value={router} label={build.definition} />
      </div>
    </DetailScreen>
  );
}
