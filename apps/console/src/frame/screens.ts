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

const base = '/$organization/$environment';

type Below =
  | 'conversations'
  | 'playground'
  | 'executions'
  | 'data'
  | 'triggers'
  | 'webhooks'
  | 'payments'
  | 'emails'
  | 'agents'
  | 'routers'
  | 'roles'
  | 'tools'
  | 'keys'
  | 'members'
  | 'integrations'
  | 'channels'
  | 'tool-secrets'
  | 'audit-log'
  | 'settings';

export interface Screen {
  to: typeof base | `${typeof base}/${Below}`;
  /** Its name in the texts of the navigation. */
  name: Exclude<Below, 'tool-secrets' | 'audit-log'> | 'home' | 'toolSecrets' | 'auditLog';
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
      { to: base, name: 'home', icon: House, key: 'g h', isTab: true },
      { to: `${base}/conversations`, name: 'conversations', icon: MessagesSquare, key: 'g i', isTab: true },
      { to: `${base}/playground`, name: 'playground', icon: Terminal, key: 'g p' },
      { to: `${base}/executions`, name: 'executions', icon: Workflow, key: 'g x', isTab: true },
      { to: `${base}/data`, name: 'data', icon: Database, key: 'g d', isTab: true },
      { to: `${base}/triggers`, name: 'triggers', icon: Zap, key: 'g t' },
      { to: `${base}/webhooks`, name: 'webhooks', icon: Webhook, key: 'g w' },
      { to: `${base}/payments`, name: 'payments', icon: CreditCard },
      { to: `${base}/emails`, name: 'emails', icon: Mail },
    ],
  },
  {
    name: 'build',
    screens: [
      { to: `${base}/agents`, name: 'agents', icon: Bot, key: 'g a' },
      { to: `${base}/routers`, name: 'routers', icon: Route },
      { to: `${base}/roles`, name: 'roles', icon: ShieldCheck },
      { to: `${base}/tools`, name: 'tools', icon: Wrench },
    ],
  },
  {
    name: 'manage',
    screens: [
      { to: `${base}/keys`, name: 'keys', icon: KeyRound, isForAdmins: true },
      { to: `${base}/members`, name: 'members', icon: Users },
      { to: `${base}/integrations`, name: 'integrations', icon: Cable, isForAdmins: true },
      { to: `${base}/channels`, name: 'channels', icon: Smartphone },
      { to: `${base}/tool-secrets`, name: 'toolSecrets', icon: LockKeyhole, isForAdmins: true },
      { to: `${base}/audit-log`, name: 'auditLog', icon: ScrollText, isForAdmins: true },
      { to: `${base}/settings`, name: 'settings', icon: Settings },
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
