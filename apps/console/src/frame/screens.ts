import type { LinkProps } from '@tanstack/react-router';
import {
  Bot,
  Cable,
  CreditCard,
  Database,
  House,
  KeyRound,
  LockKeyhole,
  type LucideIcon,
  Mail,
  MessagesSquare,
  Route,
  ScrollText,
  Settings,
  ShieldCheck,
  Smartphone,
  Terminal,
  Users,
  Webhook,
  Workflow,
  Wrench,
  Zap,
} from 'lucide-react';

import { base, linkTo } from '../parts/link';
import type { Texts } from '../texts/common';

type Nav = Texts['nav'];

export interface Screen {
  link: LinkProps;
  /** Its name in the texts of the navigation. */
  name: { [Name in keyof Nav]: Nav[Name] extends string ? Name : never }[keyof Nav];
  icon: LucideIcon;
  /** The keys that lead to it from everywhere. */
  key?: string;
  /** It is a tab of the phone's navigation. */
  isTab?: true;
  /** The server refuses it to members. */
  isForAdmins?: true;
}

interface Section {
  name: 'work' | 'build' | 'manage';
  screens: readonly Screen[];
}

/** The screens of the navigation, by section. */
const sections: readonly Section[] = [
  {
    name: 'work',
    screens: [
      { link: linkTo({ to: base }), name: 'home', icon: House, key: 'g h', isTab: true },
      {
        link: linkTo({ to: 'conversations' }),
        name: 'conversations',
        icon: MessagesSquare,
        key: 'g i',
        isTab: true,
      },
      { link: linkTo({ to: 'playground' }), name: 'playground', icon: Terminal, key: 'g p' },
      {
        link: linkTo({ to: 'executions' }),
        name: 'executions',
        icon: Workflow,
        key: 'g x',
        isTab: true,
      },
      { link: linkTo({ to: 'data' }), name: 'data', icon: Database, key: 'g d', isTab: true },
      { link: linkTo({ to: 'triggers' }), name: 'triggers', icon: Zap, key: 'g t' },
      { link: linkTo({ to: 'webhooks' }), name: 'webhooks', icon: Webhook, key: 'g w' },
      { link: linkTo({ to: 'payments' }), name: 'payments', icon: CreditCard },
      { link: linkTo({ to: 'emails' }), name: 'emails', icon: Mail },
    ],
  },
  {
    name: 'build',
    screens: [
      { link: linkTo({ to: 'agents' }), name: 'agents', icon: Bot, key: 'g a' },
      { link: linkTo({ to: 'routers' }), name: 'routers', icon: Route },
      { link: linkTo({ to: 'roles' }), name: 'roles', icon: ShieldCheck },
      { link: linkTo({ to: 'tools' }), name: 'tools', icon: Wrench },
    ],
  },
  {
    name: 'manage',
    screens: [
      { link: linkTo({ to: 'keys' }), name: 'keys', icon: KeyRound, isForAdmins: true },
      { link: linkTo({ to: 'members' }), name: 'members', icon: Users },
      {
        link: linkTo({ to: 'integrations' }),
        name: 'integrations',
        icon: Cable,
        isForAdmins: true,
      },
      { link: linkTo({ to: 'channels' }), name: 'channels', icon: Smartphone },
      {
        link: linkTo({ to: 'tool-secrets' }),
        name: 'toolSecrets',
        icon: LockKeyhole,
        isForAdmins: true,
      },
      { link: linkTo({ to: 'audit-log' }), name: 'auditLog', icon: ScrollText, isForAdmins: true },
      { link: linkTo({ to: 'settings' }), name: 'settings', icon: Settings },
    ],
  },
];

export const allScreens: readonly Screen[] = sections.flatMap(({ screens }) => screens);

/** The screens that a person may open, by section. */
export const sectionsFor = (isAdmin: boolean): Section[] =>
  sections.map((section) => ({
    ...section,
    screens: section.screens.filter(({ isForAdmins }) => isAdmin || !isForAdmins),
  }));
