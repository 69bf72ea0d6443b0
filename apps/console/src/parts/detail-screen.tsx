import { Link, type LinkProps, useNavigate } from '@tanstack/react-router';
import { ArrowLeft } from 'lucide-react';
import type { ReactNode } from 'react';
import { useKeys } from '../frame/keys';
import { ScreenHead } from './screen-head';

interface DetailScreenProps {
  title: string;
  /** The list that it belongs to; `Escape` leads there. */
  back: LinkProps;
  backTitle: string;
  /** Content beside the title, such as a status. */
  head?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** Leads to the list that a screen belongs to, as `Escape` does. */
export function BackLink({ to, title }: { to: LinkProps; title: string }) {
  const navigate = useNavigate();
  useKeys({ Escape: () => void navigate(to) });
  return (
    <Link
      {...to}
      aria-label={title}
      className="tap inline-flex h-8 w-8 items-center justify-center rounded hover:bg-n4"
    >
      <ArrowLeft aria-hidden size={16} />
    </Link>
  );
}

/** A screen with one item of a list. */
export function DetailScreen({
  title,
  back,
  backTitle,
  head,
  actions,
  children,
}: DetailScreenProps) {
  return (
    <div className="flex h-full flex-col">
      <ScreenHead title={title} before={<BackLink to={back} title={backTitle} />}>
        {head}
        {actions && <span className="ml-auto flex flex-wrap gap-2">{actions}</span>}
      </ScreenHead>
      <div className="min-h-0 flex-1 overflow-auto">{children}</div>
    </div>
  );
}

/** Names and values of an item. Those without a value are left out. */
export function Facts({
  facts,
}: {
  facts: readonly (readonly [name: string, value: ReactNode])[];
}) {
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5">
      {facts
        .filter(
          ([, value]) => value !== null && value !== undefined && value !== '' && value !== false,
        )
        .map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-n11">{name}</dt>
            <dd className="min-w-0">{value}</dd>
          </div>
        ))}
    </dl>
  );
}
