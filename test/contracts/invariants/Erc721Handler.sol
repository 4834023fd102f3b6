// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC721Collection} from "../../../contracts/ERC721Collection.sol";
import {TestSystem} from "../support/TestSystem.sol";

/// @title Erc721Handler
/// @notice Makes random calls to an ERC721 collection and updates a model of its expected state.
contract Erc721Handler is TestSystem {
    /// @dev Few enough that ids collide and that all of them can be checked after every call.
    uint64 private constant _FIRST_CAP = 40;

    ERC721Collection public immutable COLLECTION;

    /// @notice The model: the holder of each token; zero if it is burnt.
    mapping(uint256 id => address) public holderOf;
    uint256 public minted;
    uint256 public burnt;
    uint256 public cap = _FIRST_CAP;

    /// @notice Whether the service's right to mint is revoked, what is frozen, and its value at that moment.
    bool public serviceDismissed;
    /// @notice Whether the owner has replaced a URI.
    bool public edited;
    bytes32 public frozenMetadata;
    bytes32 public frozenRoyalty;

    /// @notice Describes where the collection differed from the model. Must stay empty.
    string public fault;

    struct Authorization {
        bytes data;
        uint256 number;
    }

    Authorization[] private _authorizations;

    constructor() {
        COLLECTION = _createErc721WithCap(_FIRST_CAP);
        // Token 1 stays with an account that never acts, so that one token always exists.
        _run(address(COLLECTION), abi.encodeCall(ERC721Collection.mint, (address(0xbeef))));
        holderOf[++minted] = address(0xbeef);
    }

    function mint(uint256 receiver, bool toWallet) external {
        address to = _walletOf(receiver);
        bytes memory data =
            toWallet
                ? abi.encodeCall(ERC721Collection.mintToWallet, (to))
                : abi.encodeCall(ERC721Collection.mint, (to));
        _run(address(COLLECTION), data);
        if (!serviceDismissed && minted < cap) holderOf[++minted] = to;
    }

    function mintBatchTwice(uint256 receiver, uint256 number) external {
        // The same number in every call: only the first call may mint.
        number %= 8;
        bool consumed = RELAY.isConsumed(number);
        address to = _walletOf(receiver);
        _run(number, address(COLLECTION), abi.encodeCall(ERC721Collection.mint, (to)));
        _run(number, address(COLLECTION), abi.encodeCall(ERC721Collection.mint, (to)));
        if (!consumed && !serviceDismissed && minted < cap) holderOf[++minted] = to;
    }

    function burn(uint256 tokenSeed, uint256 callerSeed) external {
        uint256 id = _tokenOf(tokenSeed);
        address caller = _walletOf(callerSeed);
        VM.prank(caller);
        (bool success, ) = address(COLLECTION).call(abi.encodeCall(ERC721Collection.burn, (id)));
        if (success) {
            if (holderOf[id] != caller) fault = "burnt by another account";
            delete holderOf[id];
            ++burnt;
        }
    }

    function transferDirectly(uint256 tokenSeed, uint256 callerSeed, uint256 receiver) external {
        uint256 id = _tokenOf(tokenSeed);
        address caller = _walletOf(callerSeed);
        address from = holderOf[id];
        address to = _walletOf(receiver);
        bytes4 selector = bytes4(keccak256("safeTransferFrom(address,address,uint256)"));
        VM.prank(caller);
        (bool success, ) = address(COLLECTION).call(abi.encodeWithSelector(selector, from, to, id));
        if (success) {
            if (caller != from) fault = "moved by another account";
            holderOf[id] = to;
        }
    }

    /// @notice A wallet signs an authorization. The relay delivers it at once or keeps it for later.
    function authorize(uint256 tokenSeed, uint256 signer, uint256 receiver, bool now_) external {
        uint256 id = _tokenOf(tokenSeed);
        address to = _walletOf(receiver);
        uint256 key = _keyOf(signer);
        uint256 number = _nextNumber();
        (bytes32 r, bytes32 vs) = _signTransfer(key, address(COLLECTION), to, id, 1, number);
        bytes memory data = abi.encodeCall(ERC721Collection.transferWithAuthorization, (holderOf[id], to, id, r, vs));
        _authorizations.push(Authorization(data, number));
        if (now_) _deliver(data, number, id, VM.addr(key), to);
    }

    /// @notice A wallet signs a burn, perhaps of a token of another holder. The relay delivers it at once.
    function authorizeBurn(uint256 tokenSeed, uint256 signer) external {
        uint256 id = _tokenOf(tokenSeed);
        address from = _walletOf(signer);
        uint256 number = _nextNumber();
        (bytes32 r, bytes32 vs) = _signBurn(_keyOf(signer), address(COLLECTION), id, 1, number);
        bytes memory data = abi.encodeCall(ERC721Collection.burnWithAuthorization, (from, id, r, vs));
        _authorizations.push(Authorization(data, number));
        _run(number, address(COLLECTION), data);
        if (holderOf[id] != from) return;
        delete holderOf[id];
        ++burnt;
    }

    /// @notice Delivers an old authorization again: under its own number if it was used, or under another number.
    function replay(uint256 seed, bool sameNumber) external {
        if (_authorizations.length == 0) return;
        Authorization storage old = _authorizations[seed % _authorizations.length];
        // It was never delivered, so it is still valid, and this is not a replay.
        if (sameNumber && !RELAY.isConsumed(old.number)) return;
        _run(sameNumber ? old.number : _nextNumber(), address(COLLECTION), old.data);
    }

    /// @notice The service tries to take a token with what it has: the relay's address and any calldata.
    function serviceAttack(uint256 tokenSeed, uint256 receiver, uint256 kind, bytes32 r, bytes32 vs) external {
        uint256 id = _tokenOf(tokenSeed);
        address from = holderOf[id];
        address to = _walletOf(receiver);
        bytes[8] memory attacks = [
            abi.encodeCall(ERC721Collection.burnWithAuthorization, (from, id, r, vs)),
            abi.encodeCall(ERC721Collection.transferWithAuthorization, (from, to, id, r, vs)),
            abi.encodeWithSignature("transferFrom(address,address,uint256)", from, to, id),
            abi.encodeWithSignature("safeTransferFrom(address,address,uint256)", from, to, id),
            abi.encodeWithSignature("approve(address,uint256)", address(RELAY), id),
            abi.encodeWithSignature("burn(uint256)", id),
            abi.encodeWithSignature("setApprovalForAll(address,bool)", to, true),
            abi.encodeWithSignature("transferOwnership(address)", to)
        ];
        _run(address(COLLECTION), attacks[kind % attacks.length]);
    }

    function approve(uint256 tokenSeed, uint256 operator) external {
        uint256 id = _tokenOf(tokenSeed);
        if (holderOf[id] == address(0)) return;
        // The approved account is not a wallet of this test, so it never acts. A transfer must clear the approval.
        VM.prank(holderOf[id]);
        COLLECTION.approve(address(uint160(1000 + (operator % 5))), id);
    }

    function lowerCap(uint256 newCap) external {
        newCap %= _FIRST_CAP + 5;
        (bool success, ) = address(COLLECTION).call(abi.encodeCall(ERC721Collection.lowerMaxSupply, (newCap)));
        bool allowed = newCap != 0 && newCap < cap && newCap >= minted;
        if (success != allowed) fault = "cap";
        if (success) cap = newCap;
    }

    function setMinter(bool allowed, uint256 dice) external {
        // Rare, because most calls fail while the service's right to mint is revoked.
        if (dice % 10 != 0 && !serviceDismissed) return;
        COLLECTION.setMinter(address(RELAY), allowed);
        serviceDismissed = !allowed;
    }

    function changeMetadata(string calldata uri, uint256 kind, uint256 dice) external {
        bool frozen = frozenMetadata != 0;
        bytes[5] memory changes = [
            abi.encodeWithSignature("setBaseURI(string)", uri),
            abi.encodeWithSignature("setContractURI(string)", uri),
            abi.encodeWithSignature("freezeMetadata()"),
            abi.encodeWithSignature("announceMetadataUpdate(uint256,uint256)", 1, 2),
            abi.encodeWithSignature("freezeMetadataAt(string,string)", uri, uri)
        ];
        kind %= 5;
        if (kind % 2 == 0 && kind != 0 && dice % 3 == 0) kind = 3;
        (bool success, ) = address(COLLECTION).call(changes[kind]);
        // The service must never replace a URI that the owner set.
        if (success != (!frozen && (kind != 4 || !edited))) fault = "metadata freeze";
        if (kind < 2 && success) edited = true;
        if ((kind == 2 || kind == 4) && success) frozenMetadata = metadataHash();
        RELAY.setHostedBaseURI(uri);
    }

    function changeRoyalty(uint16 basisPoints, bool freeze, uint256 dice) external {
        bool frozen = frozenRoyalty != 0;
        bytes memory change =
            freeze && dice % 3 != 0
                ? abi.encodeWithSignature("freezeRoyalty()")
                : abi.encodeWithSignature("setRoyalty(address,uint256)", address(this), basisPoints % 10_001);
        (bool success, ) = address(COLLECTION).call(change);
        if (success == frozen) fault = "royalty freeze";
        if (change.length == 4 && success) frozenRoyalty = royaltyHash();
    }

    function walletOf(uint256 index) external pure returns (address) {
        return _walletOf(index);
    }

    /// @notice Returns every value that freezing the metadata fixes.
    function metadataHash() public view returns (bytes32) {
        return keccak256(abi.encode(COLLECTION.contractURI(), COLLECTION.tokenURI(1)));
    }

    function royaltyHash() public view returns (bytes32) {
        (address recipient, uint256 amount) = COLLECTION.royaltyInfo(1, 10_000);
        return keccak256(abi.encode(recipient, amount));
    }

    function _deliver(bytes memory data, uint256 number, uint256 id, address signer, address to) private {
        address from = holderOf[id];
        _run(number, address(COLLECTION), data);
        if (from != address(0) && signer == from) holderOf[id] = to;
    }

    /// @dev Returns an id, sometimes one that does not exist.
    function _tokenOf(uint256 seed) private view returns (uint256) {
        return seed % (minted + 2);
    }
}
