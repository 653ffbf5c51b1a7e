"""Words, as data: a row a concept, a column a language. Few words: the algebra of a page carries the load.

The columns are English, German, French, Spanish, Portuguese, Italian, Russian, Chinese, Japanese, and others in one.
A '-' marks an empty field; several words of one field are parted by '/', '+' stands for a blank.
"""

from __future__ import annotations

import re

from qkv.regex import regex

LANGUAGES = ("en", "de", "fr", "es", "pt", "it", "ru", "zh", "ja", "other")

_TABLE = """
problem   question/exercise/problem/part/task/example/assignment/homework/discussion/worksheet/quiz/activity aufgabe/übung/teil/beispiel/frage exercice/problème/partie/exemple ejercicio/problema/parte/ejemplo/pregunta/tarea exercício/questão/exemplo/tarefa esercizio/esempio/domanda задача/упражнение/вопрос/часть/пример/задание 练习/题/问题/例题/例/作业 練習/問題/問/演習/課題 연습/문제/예제/oefening/opgave/opdracht/vraag/zadanie/ćwiczenie/alıştırma/soru/övning/uppgift/oppgave/tehtävä/cvičení/příklad/feladat/bài/bài+tập/soal/завдання
document  homework/discussion/worksheet/assignment/quiz - - - - - - 作业 - -
head      head/heads/attention+head kopf/köpfe tête/têtes cabeza/cabezas cabeça/cabeças testa/teste голова/головы/головка 头 ヘッド hoofd/głowa/kafa
step      solution/answer/answers/step/head/given/worked+solution schritt/lösung/kopf/gegeben étape/corrigé/tête paso/etapa/solución/cabeza passo/etapa/solução/resolução passo/passaggio/fase/soluzione шаг/этап/решение/голова 步骤/解/解答/解法/答案/头 手順/ステップ/解答例 단계/풀이/stap/oplossing/krok/etap/rozwiązanie/adım/çözüm/langkah/bước/steg/trin/lépés/vaihe/pas/крок
solution  solution/answer/answers/worked+solution/my+solution/my+answer lösung/antwort/musterlösung solution/corrigé/réponse solución/respuesta solução/resolução/resposta soluzione/risposta/svolgimento решение/ответ 解/解答/答案/解法/答 解答/解答例/解 풀이/정답/oplossing/antwoord/rozwiązanie/odpowiedź/çözüm/cevap/lösning/svar/řešení/megoldás/lời+giải/розв'язання
ask       compute/calculate/find/determine/show/prove/derive/write/give/evaluate/obtain/apply/explain/define/state/work+out/complete/fill+in/verify/draw/list/count/estimate/repeat/normalise/normalize/add/turn/concatenate/multiply/compare/provide/report/identify/perform/plot/sketch berechne/berechnen/bestimme/bestimmen/finde/zeige/zeigen/gib/geben/erkläre/wiederhole/wiederholen/ermittle/ermitteln/begründe/begründen/skizziere/nenne/nennen/gebt/berechnet/bestimmt/schreibe/schreiben/stelle/stellen calculer/calculez/calcule/trouver/trouvez/déterminer/déterminez/montrer/montrez/donner/donnez/répétez/refaites/écrire/écrivez/appliquer/appliquez/justifier/justifiez/vérifier/vérifiez/expliquer/expliquez/en+déduire/déduisez/évaluez calcula/calcular/calculen/halla/hallar/encuentra/encontrar/determina/determinar/muestra/demuestra/obtén/repite/repetir/calcule/aplica/aplicar/escribe/escriba/verifica/resuelve/resolver/indica/obtener encontre/mostre/obtenha/repita/determine/aplique/escreva/indique/verifique/calculem calcolare/calcola/trova/trovare/ripeti/determinare/applica/applicare/scrivi/scrivere/verifica/ottieni/mostra/mostrare найдите/найти/вычислите/вычислить/определите/покажите/докажите/посчитайте/повторите/выпишите/запишите/примените/объясните/постройте/рассчитайте/рассчитать/получите/выведите/проверьте 计算/計算/求/算出/写出/给出/确定/验证 - beräkna/bestäm/beregn/bereken/oblicz/wyznacz/vypočítejte/számítsa/hesaplayın/bulunuz/tính/знайдіть/обчисліть/hitung/bepaal/geef/vind/toon/schrijf/vul/zoek/räkna+ut/ange/visa/skriv/hitta/vis/angiv/finn/podaj/znajdź/zapisz/spočítejte/určete/najděte/határozza+meg/adja+meg/írja+fel/hesapla/bulun/bul/yazın/gösterin/tìm/viết/cho+biết/hitunglah/tentukan/tuliskan/обчисли/визначте/запишіть/laske/määritä/calculați/determinați/scrieți/găsiți
round     round/express rundet/runde/runden arrondissez/arrondir/arrondi redondea/redondee/redondear arredonde/arredondar arrotonda/arrotondare округлите/округлить 保留/四舍五入 四捨五入 -
work      append/update/extend/scale/divide/mask/take/form/project/combine/exponentiate/use/carry+out/do/set/convert/build/split/sum/weight/pass skaliere/skalieren/teile/teilen/maskiere/maskieren/bilde/bilden/wende/wenden/nutze/verwende/verwenden/führe/führen/addiere/normiere divisez/diviser/normalisez/normaliser/prenez/formez/masquez/ajoutez/projetez divide/dividir/escala/escalar/normaliza/normalizar/forma/toma/suma divida/escale/normalize/some/forme/tome dividi/dividere/scala/scalare/normalizza/normalizzare/somma/moltiplica разделите/масштабируйте/нормализуйте/сложите/возьмите/замаскируйте - - pas/zastosuj/uygulayın/skalera
question  what/which/how/why/is/are/does/do wie/was/warum/welche quel/quelle/combien cuál/qué/cuántos/cuánto qual/quais/quanto/quantos - сколько/чему/какой/какова/почему - - -
offer     would+you+like/do+you+want/shall+i/should+i/want+me+to/let+me+know möchtest+du/soll+ich voulez-vous/veux-tu quieres+que gostaria vuoi+che хотите 需要我/要不要我 - -
total     total/totals/sum/sums/sums+to/sum+to/add+up+to/adds+up+to/result/gives/yields summe/zusammen/ergibt somme/donne suma/suman soma/somam somma итого/сумма/всего 总和/之和/合计/和为/和 合計 합계/totaal/toplam/toplamı
sum       sum/total/totals/denominator/σ/\\sigma/∑ summe/gesamt/nenner somme/total suma/total soma/total somma/totale сумма/итого 总和/合计/和 合計 합계/toplam/suma/totaal
mean      mean/average/mu/μ mittelwert/durchschnitt moyenne media/promedio média media среднее/среднего 均值/平均/平均值 平均 평균/ortalama/gemiddelde/średnia
variance  variance/var/sigma^2/σ² varianz variance varianza variância varianza дисперсия 方差 分散 분산/varyans/wariancja
deviation std/standard+deviation/stddev/sigma/σ standardabweichung écart-type desviación+estándar desvio+padrão deviazione+standard стандартное+отклонение 标准差 標準偏差 표준편차
statistic mean/average/variance/var/std/sum/total/max/min/maximum/minimum/entropy mittelwert/varianz/summe moyenne/variance/somme media/varianza/suma média/variância/soma media/varianza/somma среднее/дисперсия/сумма 均值/方差/总和 平均/分散/合計 -
all       all/every/each alle/aller/allen/jede/jeden/jeder tous/toutes/chaque todos/todas/cada todos/todas/cada tutti/tutte/ogni все/всех/всем/каждого 所有/全部/每个 すべての/全ての alle/wszystkie/tüm/모든
rows      row/rows/row-wise zeile/zeilen ligne/lignes fila/filas linha/linhas riga/righe строка/строки/строке/строк 行/每行 行/各行 -
rowsums   row+sums/row+sum zeilensumme/zeilensummen - - - - - - - -
entry     entry/element/cell eintrag/element élément/coefficient elemento/entrada elemento/entrada elemento элемент/элемента 元素 要素 -
largest   largest/highest/maximum/max/biggest/greatest größte/größter/größtes/höchste/maximum plus+grand/plus+grande/maximum mayor/máximo maior/máximo massimo максимум/наибольший/наибольшее 最大/最大值 最大/最大値 최대
smallest  smallest/lowest/minimum/min kleinste/kleinster/kleinstes/minimum plus+petit/plus+petite/minimum menor/mínimo menor/mínimo minimo минимум/наименьший/наименьшее 最小/最小值 最小/最小値 최소
divide    divide/divided/dividing/scale/scaled/scaling teile/geteilt/dividiert/dividiere/skaliert divisé/diviser/divisée divide/dividido/dividir/dividimos dividido/dividir/dividindo diviso/dividere делим/разделим/деление/поделим 除以 割る 나누기/나눈/deel/delen/gedeeld/dividera/dividerat/podziel/podzielone/vydělte/ossza+el/bölün/bölünmüş/chia/bagi/dibagi/поділіть
exponential exp/exponential/exponentials/exponentiate/exponentiated/exponentiating exponential/exponentiale/exponentialwerte exponentielle/exponentielles exponencial/exponenciales exponencial/exponenciais esponenziale/esponenziali экспонента/экспоненты 指数/指数化 指数 지수
line      token/row/position/word/query/key/input/state zeile/zustand/token/wort/position ligne/mot/jeton/position fila/palabra/posición linha/palavra/posição riga/parola/posizione строка/строки/строке/токен/токена/слово/позиция 行/位置/词 行/単語 woord/rij/ord/række/słowo/wiersz/słowa/slovo/řádek/szó/sor/kelime/satır/từ/hàng/kata/baris/слова/рядок/sana/rivi
operand   times/by/of/with/and/to/from/for/on/into/per/over/plus/minus/multiply/multiplied/using/via/in/dividing/adding/minus mal/durch/mit/und/von/auf/aus/für/zu par/de/avec/et/sur/fois por/con/y/sobre com/e di/per для/на/с/и/из/по/умножаем/умножить 乘/乘以/除以/和/与 掛ける met/maal/door/razy/przez/ile
copula    is/are/be/as+follows/is+given+by/given+by/defined+as/below/equals/becomes ist/sind/lautet/ist+gegeben+durch est/sont/est+donnée+par es/son/está+dada+por é/são/é+dada+por è/sono/è+data+da равна/равно/имеет+вид 为/是/如下/等于 は/以下 다음과+같다/wynosi/jest+równa/şöyledir
lead      please/now/then/also/hence/thus/therefore/next/finally/first/again bitte/nun/dann/daraus/daher/anschließend/schließlich maintenant/puis/ensuite/enfin/donc ahora/luego/después/finalmente agora/depois/finalmente ora/poi/infine/quindi теперь/затем/далее/наконец - - teraz/następnie
connective and/or/so/then/thus/hence/where/with/since/let/if/for/when/because/also/that und/oder/also/dann/wobei/mit/wenn/sei et/ou/donc/où/avec/si/alors y/o/donde/con/entonces/luego e/ou/onde/com/então ed/dove/quindi и/где/так/тогда 其中/于是/故/因此/且 ここで/よって -
supposed  suppose/supposed/assume/assumed/assuming/imagine/pretend/say angenommen/nehmen+wir+an supposons/supposer/admettons supongamos/supón/suponga suponha/suponhamos supponiamo/supponi предположим/допустим/пусть 假设/设 仮定 stel/załóżmy/varsayalım/anta
article   a/an/the/i der/die/das/ein/eine le/la/les/un/une/à el/los/las/una o/os/as/um/uma il/lo/gli/i в/и/с/к - - -
answer    ans/answer/answers/check/done/qed antwort réponse respuesta resposta risposta ответ 答 答 svar
identity  identity/identities/identity+matrix/identity+matrices einheitsmatrix/einheitsmatrizen/identität identité/matrice+identité/matrices+identité identidad/matriz+identidad identidade/matriz+identidade identità/matrice+identità единичная/единичные/единичной/единичными 单位矩阵/单位阵/單位矩陣 単位行列 -
attention attention/self-attention/attend/attends aufmerksamkeit attention/auto-attention atención/autoatención atenção/autoatenção attenzione внимание/внимания/вниманием/внимании 注意力 アテンション/注意機構 어텐션/aandacht/uwaga/uwagi/dikkat
crossed   cross-attention/cross+attention/crossattention/encoder-decoder+attention/encoder–decoder+attention/two+sequences/other+sequence/second+sequence cross-attention/kreuz-attention/kreuzaufmerksamkeit/zwei+sequenzen/zweite+sequenz attention+croisée/deux+séquences atención+cruzada/dos+secuencias atenção+cruzada/duas+sequências attenzione+incrociata/cross-attention перекрестное+внимание/перекрёстное+внимание/кросс-внимание/кросс+внимание/перекрестного+внимания/перекрёстного+внимания 交叉注意力/交叉注意/编码器-解码器注意力 クロスアテンション/交差注意 çapraz+dikkat/교차+어텐션/크로스+어텐션/uwaga+krzyżowa
positions positional+encoding/positional+encodings/position+encoding/position+encodings/positional+embedding/positional+embeddings/position+embedding/position+embeddings positionskodierung/positionskodierungen/positionscodierung encodage+positionnel/encodages+positionnels codificación+posicional codificação+posicional/codificação+de+posição codifica+posizionale позиционное+кодирование/позиционные+кодировки 位置编码/位置嵌入/位置編碼 位置エンコーディング/位置符号化 위치+인코딩/kodowanie+pozycyjne/konumsal+kodlama
residual  residual/residuals/residual+connection/skip+connection/add+&+norm/add+and+norm residuum/residualverbindung/skip-verbindung résiduelle/connexion+résiduelle residual/conexión+residual residual/conexão+residual residua/connessione+residua остаточная+связь/остаточную+связь/остаточное+соединение 残差/残差连接 残差/残差接続 잔차/잔차+연결
norm      layer+norm/layernorm/layer+normalisation/layer+normalization/rms+norm/rmsnorm/add+&+norm/add+and+norm layernorm/layer-norm/schichtnormalisierung normalisation+de+couche normalización+de+capa normalização+de+camada/normalização+por+camada normalizzazione+del+layer нормализация+слоя/нормализацию+слоя/послойная+нормализация 层归一化/层标准化 層正規化/レイヤー正規化 층+정규화/레이어+정규화
gain      gain/gains/gain+vector/learned+scale/scale+vector/scaling+vector verstärkung/skalierungsvektor gain/vecteur+de+gain ganancia/vector+de+ganancia ganho/vetor+de+ganho guadagno/vettore+di+guadagno усиление/усиления/вектор+масштаба 增益/缩放参数 ゲイン 게인
shift     shift/bias/offset verschiebung/bias décalage/biais desplazamiento/sesgo deslocamento/viés/bias traslazione/bias сдвиг/смещение 偏移/偏置/平移 シフト/バイアス 시프트/바이어스
feed      feed-forward/feedforward/feed+forward/ffn/mlp feed-forward-netz/feedforward-netz - red+feed-forward rede+feed-forward - полносвязная+сеть/полносвязный+слой 前馈网络/前馈/前饋網路 フィードフォワード 피드포워드
new       new/updated neu/neue/neuer/neues nouveau/nouvelle nuevo/nueva novo/nova nuovo/nuova новый/новая/новое/новые 新 新しい 새/새로운
descent   gradient+descent/gradient+step/descent+step/sgd/learning+rate gradientenabstieg/gradientenabstiegs/gradientenschritt/gradientenschritts/lernrate descente+de+gradient/pas+de+gradient/taux+d'apprentissage descenso+de+gradiente/descenso+por+gradiente/descenso+del+gradiente/tasa+de+aprendizaje descida+de+gradiente/descida+do+gradiente/gradiente+descendente/taxa+de+aprendizado/taxa+de+aprendizagem discesa+del+gradiente/tasso+di+apprendimento градиентный+спуск/градиентного+спуска/градиентным+спуском/скорость+обучения/скоростью+обучения 梯度下降/学习率 勾配降下/学習率 경사+하강/경사하강법/학습률
rate      learning+rate/lr/step+size lernrate/schrittweite taux+d'apprentissage tasa+de+aprendizaje taxa+de+aprendizado/taxa+de+aprendizagem tasso+di+apprendimento скорость+обучения/скоростью+обучения 学习率 学習率 학습률
figure    figure/fig abbildung/abb - figura - - рис/рисунок 图 図 -
output    output/outputs/out/prints/printed ausgabe sortie salida saída uscita вывод 输出 出力 -
counter   #/no/nr/№/row/token/word/i/j/n/t/pos/position/index/step/id/input zeile/wort/nr ligne/mot fila/palabra linha/palavra riga/parola строка/слово/токен 行/词/位置/输入/序号 トークン -
quantity  score/scores/scaled/scaled+score/scaled+scores/weight/weights/attention/attention+weight/attention+weights/exp/softmax/product/products/dot/dot+product/dot+products/sum/mean/variance/std/mask/masked/norm gewicht/gewichte/skalarprodukt/skalarprodukte/wichtung/punktzahl poids/produit/produits/scores puntuación/puntuaciones/puntaje/puntajes/peso/pesos/producto/productos pontuação/pontuações/escore/escores/produto/produtos punteggio/punteggi/pesi вес/веса/оценка/оценки 分数/得分/权重/指数/缩放 重み/スコア 점수/가중치/gewichten/waga/wagi/ağırlık/puan
vector    query/queries/key/keys/value/values/embedding/embeddings/output/outputs/vector/vectors anfrage/anfragen/schlüssel/wert/werte/vektor/vektoren requête/requêtes/clé/clés/valeur/valeurs/vecteur consulta/consultas/clave/claves/valor/valores/vector chave/chaves/vetor chiave/chiavi/valori/vettore запрос/запросы/ключ/ключи/значение/значения/вектор 查询/键/值/向量 クエリ/キー/バリュー/ベクトル 쿼리/키/값/벡터/zapytanie/klucz/wartość
compare   compare/comparison/compared vergleiche/vergleichen/vergleich compare/comparez/comparer compara/compare/comparar compare/comparar confronta/confrontare сравните/сравни/сравнить 比较 比較 -
explain   why/explain/discuss/interpret/describe/argue/comment warum/erkläre/erklären/diskutiere/begründe pourquoi/expliquez/expliquer/discutez por+qué/explica/explique/explicar por+que/explique/explicar perché/spiega/spiegare почему/объясните/объяснить 为什么/解释/说明 なぜ/説明 왜
which     which/what welche/welches/welchem/welchen/welcher/was quel/quelle/quels qué/cuál/a+qué/a+cuál qual/quais/que quale/quali какой/какое/какая/какому/какие 哪/哪个 どの 어떤/welk/welke/vilket/vilken/hvilket/hvilken/który/które/které/melyik/hangi/nào/mana/який/яке/mikä
most      most/highest/largest/strongest/greatest/attend/attends/focus/focuses am+meisten/am+stärksten/höchste/höchsten/größte/größten le+plus/plus+grand/plus+forte más/mayor mais/maior più/maggiore больше/сильнее/наибольший/наибольшее 最 最も 가장/meest/mest/flest/najbardziej/najwięcej/nejvíce/leginkább/legtöbb/en+çok/nhiều+nhất/paling+banyak/найбільше/eniten
least     least/lowest/smallest/weakest am+wenigsten/am+schwächsten/kleinste/kleinsten le+moins/plus+petit/plus+faible menos/menor menos/menor meno/minore меньше/наименьший/наименьшее 最小/最少/最低 最小 -
places    decimal/decimals/decimal+places/decimal+place/decimal+digits/d.p./dp/places nachkommastellen/nachkommastelle/dezimalstellen/dezimalen/stellen+nach+dem+komma/stellen décimales/décimale/chiffres+après+la+virgule decimales/cifras+decimales casas+decimais/casas cifre+decimali/decimali знака+после/знаков+после/знак+после 位小数/位小數 桁 decimalen/cijfers+achter+de+komma/decimaler/desimaler/miejsc+po+przecinku/desetinná+místa/tizedesjegyre/ondalık/chữ+số+thập+phân/desimal/знаки+після+коми/desimaalia/zecimale
digits    significant+digits/significant+figures/sig+figs/s.f./sf signifikante+stellen/signifikanten+stellen/signifikante+ziffern/geltende+ziffern chiffres+significatifs cifras+significativas algarismos+significativos cifre+significative значащие+цифры/значащих+цифр/значащими+цифрами 位有效数字 桁の有効数字 -
multiply  multiply/multiplied/concatenate/concatenated multipliziere/multipliziert/verkette multipliez/multiplier/concaténez multiplica/multiplique/concatena multiplique/concatene moltiplica/concatena умножьте/умножить/конкатенируйте 相乘/拼接 連結 vermenigvuldig/multiplicera/multipliser/multiplicér/pomnóż/vynásobte/szorozza+meg/çarpın/nhân/kalikan/помножте/kerro
itself    itself/themselves/its+own+position sich+selbst lui-même/elle-même/soi-même sí+mismo/sí+misma si+mesmo/si+mesma se+stesso/se+stessa самому+себе/на+себя/себе 自己/自身/它自己 自分自身/自身 자기+자신/kendisine/zichzelf
others    others/other+tokens/other+words/other+positions/the+rest/everything+else anderen/andere+token/anderen+token/anderen+wörter/übrigen autres/autres+mots/autres+jetons otros/otras+palabras/demás outros/outras+palavras/demais altri/altre+parole остальным/остальные/другим+токенам/на+других 其他/其它/其余 他の 다른/diğer
future    future/future+tokens/later+tokens/tokens+after+it zukunft/späteren+token/spätere+token/nachfolgenden futur/jetons+suivants/mots+suivants futuro/tokens+posteriores futuro/tokens+futuros/posteriores futuro/token+successivi будущее/будущему/будущим 未来 未来 미래/gelecek
past      past/earlier+tokens/previous+tokens/preceding+tokens vergangenheit/früheren+token/vorherigen+token passé/jetons+précédents/mots+précédents pasado/tokens+anteriores passado/tokens+anteriores passato/token+precedenti прошлое/прошлому/предыдущим 过去/前面的 過去 과거/geçmiş
withdraw  wait/recalculate/recalculating/recompute/let+me+redo/seems+off/scratch+that/oops/that's+wrong/my+mistake moment/verrechnet/stimmt+nicht attends/recalcule/recalculons espera/recalculemos/me+equivoqué espera/recalculando/errei aspetta/ricalcolo стоп/пересчитаем/ошибся 等等/重新计算/不对/算错 待って/計算し直/間違え 잠깐/다시+계산/bekle/czekaj
acts      times/by/plus/add/adding/minus/subtract/subtracting/multiply/multiplying mal/plus/minus/addiere/addieren/subtrahiere fois/par/plus/ajouter/ajoutons/moins por/más/sumar/sumamos/menos vezes/por/mais/somar/somamos/menos per/più/meno/aggiungi плюс/минус/прибавим/прибавить/умножим 乘以/加/加上/减去/除以 足す/掛ける/引く 더하기/곱하기/plus/artı
place     position/positions/pos/place/places stelle/stellen/platz/positionen position/positions/rang posición/posiciones/lugar posição/posições posizione/posizioni позиция/позиции/позицию/позицией/позициях/месте 位置 位置 위치
turned    rotated/rotate/rotates/rotating/rotation/turned/rope/rotary gedreht/gedrehte/gedrehten/gedrehter/gedrehtes/drehe/drehen/dreht/drehung/rotiert/rotierte/rotierten/rotierter/rotiere tourné/tournée/tournés/tournées/tourner/tournez/rotation rotado/rotada/rotados/rotadas/rotar/girado/girada/gira/rota/rotación rotacionado/rotacionada/rotacionar/girado/girada/rotação/transformado ruotato/ruotata/ruotati/ruota/ruotare/rotazione повернутый/повёрнутый/повернутого/повёрнутого/повернутая/повёрнутая/поверните/повернуть/поворот/поворота 旋转/旋转后/旋轉 回転 회전
halves    halves/half-split/split-half/rotate_half/neox/first+half hälften/hälfte moitiés/moitié mitades/mitad metades/metade metà половины/половин/половинами 前半/后半/前后两半 前半/後半 절반
both      both/the+two/they beide/beiden les+deux/tous+deux ambos/ambas/los+dos/las+dos ambos/ambas/os+dois/as+duas entrambi/entrambe/i+due оба/обе/обоих 两者/都 両方/ともに 둘+다
slope     slope/slopes steigung/steigungen pente/pentes pendiente/pendientes inclinação/declive pendenza наклон/наклона/наклоном 斜率 傾き/スロープ 기울기
bias      bias/biases/biased/penalty/penalties/penalised/penalized bias/abzug/abzüge/strafe/strafen biais/biaisé/biaisés/pénalité/pénalités sesgo/sesgos/penalización/penalizaciones viés/vieses/penalidade/penalidades bias/penalità/distorsione смещение/смещением/смещения/штраф/штрафа/штрафы 偏置/惩罚 バイアス/ペナルティ 편향
angle     angle/angles winkel angle/angles ángulo/ángulos ângulo/ângulos angolo/angoli угол/углы 角度/角 角度 각도
dimension dimension/dimensions/dim/width dimension/dimensionen/breite dimension/dimensions dimensión/dimensiones dimensão/dimensões dimensione/dimensioni размерность 维度/维数 次元 차원
distance  distance/distances/dist abstand/abstände/entfernung distance/distances distancia/distancias distância/distâncias distanza/distanze расстояние/расстояния 距离/距離 距離 거리
without   without/no ohne sans sin sem senza без 没有/不加/无 なしの/なし 없이
with      with/where/using/given/from mit/wobei/gegeben avec/où/donné con/donde/dado com/onde/dado con/dove/dato где/при/с 其中/使用 - -
"""


def _rows() -> dict[str, tuple[frozenset[str], ...]]:
    rows = {}
    for line in _TABLE.strip().split("\n"):
        concept, *fields = line.split()
        if len(fields) != len(LANGUAGES):
            raise ValueError(f"the row of {concept!r} has {len(fields)} fields and needs {len(LANGUAGES)}")
        words = (frozenset(word.replace("+", " ") for word in field.split("/")) - {"-"} for field in fields)
        rows[concept] = tuple(words)
    return rows


TABLE = _rows()
CONCEPTS: dict[str, frozenset[str]] = {concept: frozenset().union(*fields) for concept, fields in TABLE.items()}


def means(word: str, concept: str) -> bool:
    """Whether a word, or a few, say a concept in some language.

    >>> means("Berechne", "ask"), means("banana", "ask")
    (True, False)
    """
    return word.strip().lower() in CONCEPTS[concept]


def pattern(concept: str) -> str:
    """The words of a concept as alternatives of a regular expression, longest first.

    >>> re.fullmatch(pattern("total"), "sum") is not None
    True
    """
    return "|".join(re.escape(word) for word in sorted(CONCEPTS[concept], key=lambda word: (-len(word), word)))


_EASTERN = regex("[\u3040-\u9fff]")


def spoken(concept: str) -> str:
    """The words of a concept as a regular expression, each as a whole; words of scripts without blanks anywhere."""
    eastern = "|".join(word for word in CONCEPTS[concept] if _EASTERN.search(word)) or "(?!)"
    return rf"(?:(?<![^\W_])(?:{pattern(concept)})(?![^\W_])|(?:{eastern}))"


ROW_SUMS = regex(
    f"{spoken('rowsums')}|{spoken('rows')}.{{0,40}}?{spoken('total')}|{spoken('total')}.{{0,30}}?{spoken('rows')}",
    re.IGNORECASE,
)
_HEADED = regex(
    rf"\W*(?:[^\W\d_]+\W+)?(?:{pattern('head')})\W{{0,3}}(?P<n>\d{{1,2}})\b|(?:{pattern('head')})\W{{0,3}}(?P<m>\d{{1,2}})\W*$"
)


def head_said(title: str) -> str | None:
    """The number of the head that a title names.

    >>> head_said("Head 2"), head_said("### Kopf 1: Gewichte"), head_said("Two heads")
    ('2', '1', None)
    """
    found = _HEADED.match(title.lower())
    return (found["n"] or found["m"]) if found else None
