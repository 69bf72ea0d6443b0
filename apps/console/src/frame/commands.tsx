import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useId, useLayoutEffect, useRef, useState } from 'react';
import { useAgents, useTypes } from '../api/queries';
import { meQuery } from '../api/session';
import { useTexts } from '../i18n';
import { Dialog } from '../parts/dialog';
import { base } from '../parts/link';
import { sectionsFor } from './screens';
import { useWorkspace } from './workspace';

/**
 * Goes to a screen, an entity type, an agent's executions or another place by a part of its name.
 */
export function Commands({ onClose }: { onClose: () => void }) {
  const { nav } = useTexts();
  const { data: me } = useQuery(meQuery);
  const { data: types } = useTypes();
  const agents = useAgents().items;
  const navigate = useNavigate({ from: base });
  const { isAdmin } = useWorkspace();
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const listId = useId();
  const input = useRef<HTMLInputElement>(null);
  // After the dialog is open: what is in a closed one cannot be focused.
  useLayoutEffect(() => input.current!.focus(), []);

  const all: { name: string; kind: string; run: () => void }[] = [
    ...sectionsFor(isAdmin).flatMap(({ name: section, screens }) =>
      screens.map(({ link, name }) => ({
        name: nav[name],
        kind: nav.sections[section],
        run: () => void navigate(link),
      })),
    ),
    ...(types?.data ?? []).map(({ slug, name }) => ({
      name: `${name} (${slug})`,
      kind: nav.data,
      run: () => void navigate({ to: 'data/$type', params: { type: slug } }),
    })),
    ...agents.map(({ slug, name }) => ({
      name: `${name} (${slug})`,
      kind: nav.executions,
      run: () => void navigate({ to: 'executions', search: { agent: slug } }),
    })),
    ...(me?.organizations ?? []).flatMap(({ slug, name, environments }) =>
      environments.map((environment) => ({
        name: `${name} · ${nav[environment]}`,
        kind: nav.organization,
        run: () => void navigate({ to: base, params: { organization: slug, environment } }),
      })),
    ),
    { name: nav.reference, kind: '', run: () => void window.open('/docs', '_blank', 'noopener') },
    {
      name: nav.account,
      kind: me?.person.email ?? '',
      run: () => void navigate({ to: 'account' }),
    },
  ];
  const found = all
    .filter(({ name }) => name.toLowerCase().includes(typed.trim().toLowerCase()))
    .slice(0, 50);
  const run = (command: (typeof all)[number]) => {
    onClose();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined)
      setAt((from) => (from + step + found.length) % Math.max(1, found.length));
    else if (event.key === 'Enter' && found[at]) run(found[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title={nav.commands} onClose={onClose}>
      <input
        ref={input}
        role="combobox"
        aria-expanded
        aria-controls={listId}
        aria-activedescendant={found[at] && `${listId}-${at}`}
        aria-label={nav.commands}
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
        className="tap h-9 w-full rounded border border-n8 bg-n1 px-2"
      />
      <ul
        id={listId}
        role="listbox"
        aria-label={nav.commands}
        className="mt-2 max-h-80 overflow-auto"
      >
        {found.map((command, index) => (
          <li
            key={command.kind + command.name}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={index === at}
            ref={index === at ? (item) => item?.scrollIntoView({ block: 'nearest' }) : undefined}
            onClick={() => run(command)}
            className={`tap flex cursor-pointer items-center justify-between gap-2 rounded px-2 py-1.5 ${index === at ? 'bg-n4' : 'hover:bg-n3'}`}
          >
            <span className="truncate">{command.name}</span>
            <span className="shrink-0 text-xs text-n10">{command.kind}</span>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p className="py-3 text-n11">{nav.noCommand}</p>}
    </Dialog>
  );
}
