// The style of the house's pages: one column of text, tables whose rows become blocks on narrow screens, two color
// schemes, paper. Colors are told apart by colorblind readers and never mean anything alone.
#include "release/page_style.h"

namespace snapdp::release_internal {

const std::string& page_style() {
  static const std::string style = R"css(
:root{
  color-scheme:light dark;--paper:#fdfcf9;--card:#f4f2ec;--ink:#1c2126;--soft:#555d66;--rule:#d6d3c9;
  --grid:#e4e1d8;--bar:#1f5f8b;--band:#a9cbe3;--edge:#1f5f8b;--tick:#0b1f2f;--old:#7d7668;--warn:#8f3a00;
  --warnbg:#fbeedd;--link:#0b5394}
@media(prefers-color-scheme:dark){
  :root{
    --paper:#15181b;--card:#1e2327;--ink:#e9e7e1;--soft:#b0b5ba;--rule:#3b4147;--grid:#2b3036;--bar:#5fa8d8;
    --band:#2c567a;--edge:#7fbde6;--tick:#ffffff;--old:#8f8a7f;--warn:#ffb57a;--warnbg:#32230f;--link:#8cc4f0}
}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{
  margin:0;background:var(--paper);color:var(--ink);
  font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
  font-variant-numeric:tabular-nums}
main,header,footer{max-width:50rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:2rem}
h1,h2,.big b{
  font-family:Charter,"Iowan Old Style","Source Serif 4",Cambria,"Noto Serif",Georgia,serif;font-weight:700;
  text-wrap:balance}
h1{font-size:clamp(1.6rem,4.6vw,2.3rem);line-height:1.16;margin:.3rem 0 .8rem;letter-spacing:-.01em}
h2{font-size:1.3rem;line-height:1.25;margin:2.6rem 0 .35rem}
h3{font-size:1rem;margin:1.3rem 0 .2rem}
p{margin:.5rem 0;max-width:42rem;text-wrap:pretty}
.kick{
  max-width:none;color:var(--soft);font-size:.88rem;margin:0;border-top:3px solid var(--ink);padding-top:.5rem}
.lede{font-size:1.12rem;line-height:1.5}
.soft,caption,.note{color:var(--soft)}
.note{font-size:.88rem}
a{color:var(--link);text-underline-offset:.15em}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:-99rem}
.skip:focus{left:1rem;top:1rem;background:var(--paper);padding:.5rem}
.vh{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
table{border-collapse:collapse;width:100%;font-size:.94rem;margin:.5rem 0}
caption{text-align:left;font-size:.88rem;padding:0 0 .5rem;max-width:42rem}
th,td{
  text-align:left;padding:.4rem .8rem .4rem 0;border-top:1px solid var(--rule);vertical-align:middle;
  font-weight:400}
thead th{border-top:0;color:var(--soft);font-size:.82rem;vertical-align:bottom;line-height:1.25}
th:last-child,td:last-child{padding-right:0}
.n{text-align:right;white-space:nowrap}
.v{font-weight:650}
td small,th small{display:block;color:var(--soft);font-size:.82rem;line-height:1.3}
svg{display:block;overflow:visible;width:100%}
svg text{font-size:12px;fill:var(--soft)}
.c{width:44%}
.b{fill:var(--bar)}
.d{fill:var(--band)}
.e{stroke:var(--edge);stroke-width:1.5}
.t2{stroke:var(--tick);stroke-width:2}
.t{stroke:var(--tick);stroke-width:3}
.g{stroke:var(--grid)}
.r{stroke:var(--rule);stroke-width:2}
.o{fill:var(--old)}
.x{fill:none;stroke:var(--soft);stroke-dasharray:3 3}
.big{display:grid;grid-template-columns:repeat(3,1fr);gap:1rem 1.5rem;margin:1.4rem 0;padding:0;list-style:none}
.big li{border-top:1px solid var(--ink);padding-top:.45rem;line-height:1.3}
.big b{display:block;font-size:1.5rem;line-height:1.2}
.warn{background:var(--warnbg);border-left:5px solid var(--warn);padding:.7rem 1rem .8rem;margin:1.4rem 0}
.warn h2{margin:0 0 .2rem;font-size:1.05rem;color:var(--warn)}
.warn ul{margin:.2rem 0;padding-left:1.15rem}
.warn li{margin:.3rem 0}
.flag{color:var(--warn);font-size:.82rem;display:block;line-height:1.3}
.two{display:grid;grid-template-columns:1fr 1fr;gap:0 2rem}
.two ul{margin:.2rem 0;padding-left:1.15rem}
.key{list-style:none;padding:0;margin:.6rem 0;display:flex;flex-wrap:wrap;gap:.3rem 1.6rem;font-size:.92rem}
.key svg{display:inline-block;width:22px;height:14px;vertical-align:-2px;margin-right:.4rem}
pre,code{font:.84em/1.5 ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}
pre{background:var(--card);padding:.7rem .9rem;overflow-x:auto;margin:.5rem 0}
code{overflow-wrap:anywhere}
details{border-top:1px solid var(--rule);padding:.55rem 0}
summary{cursor:pointer;font-weight:600}
details pre{max-height:28rem}
.scroll{overflow-x:auto}
footer{color:var(--soft);font-size:.85rem;margin:2.5rem auto;border-top:1px solid var(--rule);padding-top:.8rem}
.toc{font-size:.92rem;display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;padding:0;margin:.2rem 0;list-style:none}
@media(max-width:640px){
  .big{grid-template-columns:1fr}
  .two{grid-template-columns:1fr}
  header{padding-top:1rem}
  main,header,footer{padding-left:1rem;padding-right:1rem}
  .f thead,.f thead tr{display:block;padding:0!important;border:0!important}
  .f thead th:not(.c){position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
  .f thead .c{display:block;padding:.2rem 0}
  .f tr{
    display:grid;grid-template-columns:1fr auto auto;column-gap:.9rem;border-top:1px solid var(--rule);
    padding:.45rem 0 .6rem}
  .f tbody th,.f td{border:0;padding:.1rem 0}
  .f tbody th{align-self:start}
  .f .c{grid-column:1/-1;width:auto;padding-top:.3rem}
  .f caption{display:block}
  .f table,.f tbody{display:block}
  .f .h{display:none}
}
@media print{
  @page{size:A4;margin:16mm 15mm}
  :root{
    color-scheme:light;--paper:#fff;--card:#f4f4f2;--ink:#000;--soft:#444;--rule:#bbb;--grid:#ddd;--bar:#1f5f8b;
    --band:#a9cbe3;--edge:#1f5f8b;--tick:#000;--old:#7d7668;--warn:#7a3200;--warnbg:#fff;--link:#000}
  *{print-color-adjust:exact;-webkit-print-color-adjust:exact}
  body{font-size:10.2pt;line-height:1.4}
  main,header,footer{max-width:none;padding-left:0;padding-right:0}
  header{padding-top:0}
  h1{font-size:21pt}
  h2{font-size:13pt;margin-top:1.5rem;break-after:avoid}
  h3{break-after:avoid}
  th,td{padding-top:.16rem;padding-bottom:.16rem}
  table{font-size:9.4pt}
  th small,.flag{display:inline!important;margin-left:.3rem}
  .big{margin:.8rem 0}
  .warn{margin:.8rem 0;padding:.4rem .8rem}
  .warn li{margin:.1rem 0}
  tr,figure,li,.warn,.key,pre{break-inside:avoid}
  thead{display:table-header-group}
  .warn{border:1px solid var(--warn);border-left-width:5px}
  .key{break-after:avoid}
  .keep,.scroll,caption{break-inside:avoid}
  .c{width:38%}
  .toc,.skip,.screen{display:none}
  a{text-decoration:none}
  pre{white-space:pre-wrap}
  .big{grid-template-columns:repeat(3,1fr)}
  .two{grid-template-columns:1fr 1fr}
  caption{break-after:avoid}
}
.sep{stroke:var(--paper);stroke-width:2}
.frame{fill:none;stroke:var(--ink);stroke-width:1.2}
.defs{position:absolute;width:0;height:0}
.exact{color:var(--soft)}
.p{fill:url(#hatch)}
.hl{stroke:var(--bar);stroke-width:4}
.cards{list-style:none;padding:0;display:grid;grid-template-columns:1fr 1fr;gap:1.6rem 2.2rem}
.fcard h3{margin:0}
.fcard p{margin:.1rem 0 .6rem;font-size:.92rem}
.in{overflow:hidden}
.fn{fill:var(--band);stroke:var(--edge);stroke-width:1.5;fill-opacity:.75}
.pl{stroke:var(--tick);stroke-dasharray:2 3}
.now{font-weight:700;fill:var(--ink)}
.sum th,.sum td{border-top:2px solid var(--ink)}
.plan .c{width:22%}
@media(max-width:640px){
  .cards{grid-template-columns:1fr}
  .plan .c{width:auto}
}
@media print{
  .fcard{break-inside:avoid}
}
.dot{fill:var(--paper);stroke:var(--ink);stroke-width:2}
.mech{font-size:.84rem}
.mech th,.mech td{padding-top:.15rem;padding-bottom:.15rem}
.mech small{display:inline}
.mech code{overflow-wrap:normal}
.bel td.n,.bel th{white-space:nowrap}
.bel .c{width:60%}
.wrap{white-space:pre-wrap;overflow-wrap:anywhere}
)css";
  return style;
}

}  // namespace snapdp::release_internal
